-- $1 group: text, $2 data column 0: text
INSERT INTO "jobs" ("kind", "attempt", "note")
VALUES ($1, 1, $2)
RETURNING "jobs"."id";
