-- group, now plus the delay, payload
INSERT INTO "jobs" ("kind", "attempt", "retry_after", "payload")
VALUES (?, 1, ?, ?)
RETURNING "id";
