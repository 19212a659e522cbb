-- 1 x (id, token, stored count), now in microseconds
WITH u (id, token, attempt) AS (VALUES (?, ?, ?))
UPDATE "u" AS j
SET "reason" = ?
FROM u
WHERE j."token" = u.id AND j."reason" = u.token AND j."due" = u.attempt
  AND j."token" IN (SELECT id FROM u)
RETURNING "token";
