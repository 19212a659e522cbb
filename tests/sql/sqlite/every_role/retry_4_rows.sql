-- 4 x (id, token, stored count, reason or null)
WITH u (id, token, attempt, reason) AS (VALUES (?, ?, ?, ?), (?, ?, ?, ?), (?, ?, ?, ?), (?, ?, ?, ?))
UPDATE "jobs" AS j
SET "locked_until" = NULL,
  "last_error" = coalesce(u.reason, j."last_error")
FROM u
WHERE j."id" = u.id AND j."locked_until" = u.token AND j."attempt" = u.attempt
  AND j."id" IN (SELECT id FROM u)
RETURNING "id";
