-- 1 x (id, token, stored count)
WITH u (id, token, attempt) AS (VALUES (?, ?, ?))
DELETE FROM "jobs" AS j
WHERE (j."id", j."locked_until", j."attempt") IN (SELECT id, token, attempt FROM u)
RETURNING "id";
