-- 4 x (id, token, stored count)
WITH u (id, token, attempt) AS (VALUES (?, ?, ?), (?, ?, ?), (?, ?, ?), (?, ?, ?))
DELETE FROM "u" AS j
WHERE (j."token", j."reason", j."due") IN (SELECT id, token, attempt FROM u)
RETURNING "token";
