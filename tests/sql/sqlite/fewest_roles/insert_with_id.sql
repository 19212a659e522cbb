-- id, data column 0
INSERT INTO "jobs" ("id", "note")
VALUES (?, ?)
RETURNING "id";
