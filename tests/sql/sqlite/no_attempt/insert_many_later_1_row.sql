-- 1 x (payload), group, now plus the delay, limit
WITH u (payload) AS (VALUES (?))
INSERT INTO "jobs" ("kind", "retry_after", "payload")
SELECT ?, ?, u.payload
FROM u
LIMIT ?
RETURNING "id";
