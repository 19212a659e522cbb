-- payload
INSERT INTO "jobs" ("attempt", "payload")
VALUES (1, ?)
RETURNING "id";
