-- 4 x (id, payload), group, limit
WITH u (id, payload) AS (VALUES (?, ?), (?, ?), (?, ?), (?, ?))
INSERT INTO "jobs" ("id", "kind", "attempt", "payload")
SELECT u.id, ?, 1, u.payload
FROM u
LIMIT ?
RETURNING "id";
