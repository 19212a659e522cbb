-- 4 x (id, token, stored count), now
WITH u (id, token, attempt) AS (VALUES (?, ?, ?), (?, ?, ?), (?, ?, ?), (?, ?, ?))
UPDATE "my ""queue"""."order" AS j
SET "say ""when""" = ?
FROM u
WHERE j."select" = u.id AND j."say ""when""" = u.token AND j."Attempt" = u.attempt
  AND j."select" IN (SELECT id FROM u)
RETURNING "select";
