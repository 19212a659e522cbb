-- 1 x (id, token, stored count, reason or null), group of the dead letters
WITH u (id, token, attempt, reason) AS (VALUES (?, ?, ?, ?))
UPDATE "u" AS j
SET "reason" = NULL,
  "id" = ?,
  "due" = 1,
  "attempt" = NULL,
  "n" = coalesce(u.reason, j."n")
FROM u
WHERE j."token" = u.id AND j."reason" = u.token AND j."due" = u.attempt
  AND j."token" IN (SELECT id FROM u)
RETURNING "token";
