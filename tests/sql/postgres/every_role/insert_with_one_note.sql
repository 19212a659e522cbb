-- $1 group: text, $2 payload: bytea, $3 data column 0: text
INSERT INTO "jobs" ("kind", "attempt", "payload", "note")
VALUES ($1, 1, $2, $3)
RETURNING "jobs"."id";
