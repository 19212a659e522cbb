-- 1 x (id, token, token plus one tick), now plus the lease
WITH u (id, token, next) AS (VALUES (?, ?, ?))
UPDATE "jobs" AS j
SET "locked_until" = max(?, u.next)
FROM u
WHERE j."id" = u.id AND j."locked_until" = u.token
  AND j."id" IN (SELECT id FROM u)
RETURNING "id", "locked_until";
