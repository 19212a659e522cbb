-- 4 x (data column 0), group, limit
WITH u (each0) AS (VALUES (?), (?), (?), (?))
INSERT INTO "jobs" ("kind", "attempt", "note")
SELECT ?, 1, u.each0
FROM u
LIMIT ?
RETURNING "id";
