-- 1 x (payload, data column 0), group, now plus the delay in microseconds, limit
WITH u (payload, each0) AS (VALUES (?, ?))
INSERT INTO "u" ("id", "due", "attempt", "next", "payload")
SELECT ?, 1, ?, u.payload, u.each0
FROM u
LIMIT ?
RETURNING "token";
