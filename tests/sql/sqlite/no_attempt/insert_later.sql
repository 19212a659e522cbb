-- group, now plus the delay, payload
INSERT INTO "jobs" ("kind", "retry_after", "payload")
VALUES (?, ?, ?)
RETURNING "id";
