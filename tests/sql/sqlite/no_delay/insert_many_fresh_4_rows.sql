-- 4 x (payload), group, limit
WITH u (payload) AS (VALUES (?), (?), (?), (?))
INSERT INTO "jobs" ("kind", "attempt", "payload")
SELECT ?, 1, u.payload
FROM u
LIMIT ?
RETURNING "id";
