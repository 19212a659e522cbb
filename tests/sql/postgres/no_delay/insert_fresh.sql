-- $1 group: text, $2 payload: bytea
INSERT INTO "jobs" ("kind", "attempt", "payload")
VALUES ($1, 1, $2)
RETURNING "jobs"."id";
