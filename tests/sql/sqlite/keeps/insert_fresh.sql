-- group, data column 0
INSERT INTO "jobs" ("kind", "attempt", "note")
VALUES (?, 1, ?)
RETURNING "id";
