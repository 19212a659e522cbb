-- 4 x (id, token)
WITH u (id, token) AS (VALUES (?, ?), (?, ?), (?, ?), (?, ?))
DELETE FROM "jobs" AS j
WHERE (j."id", j."locked_until") IN (SELECT id, token FROM u)
RETURNING "id";
