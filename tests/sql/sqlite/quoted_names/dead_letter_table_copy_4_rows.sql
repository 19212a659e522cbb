-- 4 x (id, token, stored count, reason or null)
INSERT INTO "it's"."dead :order" ("select", "group", "Attempt", "not :before", "say ""when""", "it's", "a::b", "from")
SELECT j."select", j."group", 1, NULL, NULL, coalesce(u.reason, j."it's"), j."a::b", j."from"
FROM (WITH u (id, token, attempt, reason) AS (VALUES (?, ?, ?, ?), (?, ?, ?, ?), (?, ?, ?, ?), (?, ?, ?, ?)) SELECT DISTINCT * FROM u) AS u
CROSS JOIN "my ""queue"""."order" AS j
WHERE j."select" = u.id AND j."say ""when""" = u.token AND j."Attempt" = u.attempt
RETURNING "select";
