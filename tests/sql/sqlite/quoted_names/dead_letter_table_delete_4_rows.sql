-- 4 x (id, token, stored count)
WITH u (id, token, attempt) AS (VALUES (?, ?, ?), (?, ?, ?), (?, ?, ?), (?, ?, ?))
DELETE FROM "my ""queue"""."order" AS j
WHERE (j."select", j."say ""when""", j."Attempt") IN (SELECT id, token, attempt FROM u)
RETURNING "select";
