-- group, now plus the delay in microseconds, payload, data column 0
INSERT INTO "u" ("id", "due", "attempt", "next", "payload")
VALUES (?, 1, ?, ?, ?)
RETURNING "token";
