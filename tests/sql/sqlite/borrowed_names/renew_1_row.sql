-- 1 x (id, token, stored count, token plus one tick), now plus the lease in microseconds
WITH u (id, token, attempt, next) AS (VALUES (?, ?, ?, ?))
UPDATE "u" AS j
SET "reason" = max(?, u.next)
FROM u
WHERE j."token" = u.id AND j."reason" = u.token AND j."due" = u.attempt
  AND j."token" IN (SELECT id FROM u)
RETURNING "token", "reason";
