-- $1 id: text, $2 data column 0: text
INSERT INTO "jobs" ("id", "note")
VALUES ($1, $2)
RETURNING "jobs"."id";
