-- 4 x (payload), group, now plus the delay, limit
WITH u (payload) AS (VALUES (?), (?), (?), (?))
INSERT INTO "jobs" ("kind", "attempt", "retry_after", "payload")
SELECT ?, 1, ?, u.payload
FROM u
LIMIT ?
RETURNING "id";
