-- 4 x (payload), limit
WITH u (payload) AS (VALUES (?), (?), (?), (?))
INSERT INTO "jobs" ("attempt", "payload")
SELECT 1, u.payload
FROM u
LIMIT ?
RETURNING "id";
