-- 4 x (id, token, stored count, now plus the delay in microseconds)
WITH u (id, token, attempt, due) AS (VALUES (?, ?, ?, ?), (?, ?, ?, ?), (?, ?, ?, ?), (?, ?, ?, ?))
UPDATE "jobs" AS j
SET "locked_until" = NULL,
  "due" = u.due
FROM u
WHERE j."id" = u.id AND j."locked_until" = u.token AND j."attempt" = u.attempt
  AND j."id" IN (SELECT id FROM u)
RETURNING "id";
