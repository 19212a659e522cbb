-- 1 x (id, token, now plus the delay)
WITH u (id, token, due) AS (VALUES (?, ?, ?))
UPDATE "jobs" AS j
SET "locked_until" = NULL,
  "retry_after" = u.due
FROM u
WHERE j."id" = u.id AND j."locked_until" = u.token
  AND j."id" IN (SELECT id FROM u)
RETURNING "id";
