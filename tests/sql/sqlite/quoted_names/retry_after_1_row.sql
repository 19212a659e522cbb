-- 1 x (id, token, stored count, now plus the delay, reason or null)
WITH u (id, token, attempt, due, reason) AS (VALUES (?, ?, ?, ?, ?))
UPDATE "my ""queue"""."order" AS j
SET "say ""when""" = NULL,
  "not :before" = u.due,
  "it's" = coalesce(u.reason, j."it's")
FROM u
WHERE j."select" = u.id AND j."say ""when""" = u.token AND j."Attempt" = u.attempt
  AND j."select" IN (SELECT id FROM u)
RETURNING "select";
