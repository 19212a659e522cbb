-- 1 x (id, token, stored count, reason or null)
WITH u (id, token, attempt, reason) AS (VALUES (?, ?, ?, ?))
UPDATE "my ""queue"""."order" AS j
SET "say ""when""" = NULL,
  "it's" = coalesce(u.reason, j."it's")
FROM u
WHERE j."select" = u.id AND j."say ""when""" = u.token AND j."Attempt" = u.attempt
  AND j."select" IN (SELECT id FROM u)
RETURNING "select";
