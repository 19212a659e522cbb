-- $1 payload: text
INSERT INTO "jobs" ("attempt", "payload")
VALUES (1, $1)
RETURNING "jobs"."id";
