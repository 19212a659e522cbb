-- 4 x (payload), group, data column 0, limit
WITH u (payload) AS (VALUES (?), (?), (?), (?))
INSERT INTO "jobs" ("kind", "attempt", "payload", "note")
SELECT ?, 1, u.payload, ?
FROM u
LIMIT ?
RETURNING "id";
