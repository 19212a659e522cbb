-- 4 x (id, token, stored count, token plus one tick), now plus the lease
WITH u (id, token, attempt, next) AS (VALUES (?, ?, ?, ?), (?, ?, ?, ?), (?, ?, ?, ?), (?, ?, ?, ?))
UPDATE "my ""queue"""."order" AS j
SET "say ""when""" = max(?, u.next)
FROM u
WHERE j."select" = u.id AND j."say ""when""" = u.token AND j."Attempt" = u.attempt
  AND j."select" IN (SELECT id FROM u)
RETURNING "select", "say ""when""";
