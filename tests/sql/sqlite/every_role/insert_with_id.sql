-- id, group, payload
INSERT INTO "jobs" ("id", "kind", "attempt", "payload")
VALUES (?, ?, 1, ?)
RETURNING "id";
