-- 1 x (id, token)
INSERT INTO "dead_jobs" ("id", "locked_until", "note")
SELECT j."id", NULL, j."note"
FROM (WITH u (id, token) AS (VALUES (?, ?)) SELECT DISTINCT * FROM u) AS u
CROSS JOIN "jobs" AS j
WHERE j."id" = u.id AND j."locked_until" = u.token
RETURNING "id";
