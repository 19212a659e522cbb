-- 1 x (id, token), group of the dead letters, now
WITH u (id, token) AS (VALUES (?, ?))
UPDATE "jobs" AS j
SET "locked_until" = NULL,
  "kind" = ?,
  "retry_after" = ?
FROM u
WHERE j."id" = u.id AND j."locked_until" = u.token
  AND j."id" IN (SELECT id FROM u)
RETURNING "id";
