-- 4 x (id, token), now in microseconds
WITH u (id, token) AS (VALUES (?, ?), (?, ?), (?, ?), (?, ?))
UPDATE "jobs" AS j
SET "locked_until" = ?
FROM u
WHERE j."id" = u.id AND j."locked_until" = u.token
  AND j."id" IN (SELECT id FROM u)
RETURNING "id";
