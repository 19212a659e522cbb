-- now in microseconds, 1 x (id, token, stored count)
INSERT INTO "dead_jobs" ("id", "attempt", "retry_after", "locked_until", "payload")
SELECT j."id", 1, ?, NULL, j."payload"
FROM (WITH u (id, token, attempt) AS (VALUES (?, ?, ?)) SELECT DISTINCT * FROM u) AS u
CROSS JOIN "jobs" AS j
WHERE j."id" = u.id AND j."locked_until" = u.token AND j."attempt" = u.attempt
RETURNING "id";
