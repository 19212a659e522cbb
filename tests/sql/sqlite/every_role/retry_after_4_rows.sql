-- 4 x (id, token, stored count, now plus the delay, reason or null)
WITH u (id, token, attempt, due, reason) AS (VALUES (?, ?, ?, ?, ?), (?, ?, ?, ?, ?), (?, ?, ?, ?, ?), (?, ?, ?, ?, ?))
UPDATE "jobs" AS j
SET "locked_until" = NULL,
  "retry_after" = u.due,
  "last_error" = coalesce(u.reason, j."last_error")
FROM u
WHERE j."id" = u.id AND j."locked_until" = u.token AND j."attempt" = u.attempt
  AND j."id" IN (SELECT id FROM u)
RETURNING "id";
