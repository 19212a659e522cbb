-- 1 x (payload, data column 0), group, now plus the delay, limit
WITH u (payload, each0) AS (VALUES (?, ?))
INSERT INTO "my ""queue"""."order" ("group", "Attempt", "not :before", "a::b", "from")
SELECT ?, 1, ?, u.payload, u.each0
FROM u
LIMIT ?
RETURNING "select";
