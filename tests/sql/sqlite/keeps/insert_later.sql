-- group, now plus the delay in microseconds, data column 0
INSERT INTO "jobs" ("kind", "attempt", "due", "note")
VALUES (?, 1, ?, ?)
RETURNING "id";
