-- 4 x (id, token, stored count), now
WITH u (id, token, attempt) AS (VALUES (?, ?, ?), (?, ?, ?), (?, ?, ?), (?, ?, ?))
UPDATE "jobs" AS j
SET "locked_until" = ?
FROM u
WHERE j."id" = u.id AND j."locked_until" = u.token AND j."attempt" = u.attempt
  AND j."id" IN (SELECT id FROM u)
RETURNING "id";
