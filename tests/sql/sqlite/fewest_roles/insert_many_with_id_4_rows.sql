-- 4 x (id, data column 0), limit
WITH u (id, each0) AS (VALUES (?, ?), (?, ?), (?, ?), (?, ?))
INSERT INTO "jobs" ("id", "note")
SELECT u.id, u.each0
FROM u
LIMIT ?
RETURNING "id";
