-- 4 x (data column 0), group, now plus the delay in microseconds, limit
WITH u (each0) AS (VALUES (?), (?), (?), (?))
INSERT INTO "jobs" ("kind", "attempt", "due", "note")
SELECT ?, 1, ?, u.each0
FROM u
LIMIT ?
RETURNING "id";
