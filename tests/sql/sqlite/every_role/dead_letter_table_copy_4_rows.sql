-- 4 x (id, token, stored count, reason or null)
INSERT INTO "dead_jobs" ("id", "kind", "attempt", "retry_after", "locked_until", "processed_at", "last_error", "payload", "note")
SELECT j."id", j."kind", 1, NULL, NULL, NULL, coalesce(u.reason, j."last_error"), j."payload", j."note"
FROM (WITH u (id, token, attempt, reason) AS (VALUES (?, ?, ?, ?), (?, ?, ?, ?), (?, ?, ?, ?), (?, ?, ?, ?)) SELECT DISTINCT * FROM u) AS u
CROSS JOIN "jobs" AS j
WHERE j."id" = u.id AND j."locked_until" = u.token AND j."attempt" = u.attempt
RETURNING "id";
