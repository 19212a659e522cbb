-- 4 x (id, payload, data column 0), group, now plus the delay, limit
WITH u (id, payload, each0) AS (VALUES (?, ?, ?), (?, ?, ?), (?, ?, ?), (?, ?, ?))
INSERT INTO "jobs" ("id", "kind", "attempt", "retry_after", "payload", "note")
SELECT u.id, ?, 1, ?, u.payload, u.each0
FROM u
LIMIT ?
RETURNING "id";
