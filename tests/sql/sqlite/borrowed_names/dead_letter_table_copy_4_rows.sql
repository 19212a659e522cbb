-- 4 x (id, token, stored count, reason or null)
INSERT INTO "moved" ("token", "id", "due", "attempt", "reason", "n", "next", "payload")
SELECT j."token", j."id", 1, NULL, NULL, coalesce(u.reason, j."n"), j."next", j."payload"
FROM (WITH u (id, token, attempt, reason) AS (VALUES (?, ?, ?, ?), (?, ?, ?, ?), (?, ?, ?, ?), (?, ?, ?, ?)) SELECT DISTINCT * FROM u) AS u
CROSS JOIN "u" AS j
WHERE j."token" = u.id AND j."reason" = u.token AND j."due" = u.attempt
RETURNING "token";
