-- group, payload
INSERT INTO "jobs" ("kind", "attempt", "payload")
VALUES (?, 1, ?)
RETURNING "id";
