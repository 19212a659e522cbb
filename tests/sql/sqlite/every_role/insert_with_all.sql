-- id, group, now plus the delay, payload, data column 0
INSERT INTO "jobs" ("id", "kind", "attempt", "retry_after", "payload", "note")
VALUES (?, ?, 1, ?, ?, ?)
RETURNING "id";
