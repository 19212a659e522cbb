-- group, payload, data column 0
INSERT INTO "jobs" ("kind", "attempt", "payload", "note")
VALUES (?, 1, ?, ?)
RETURNING "id";
