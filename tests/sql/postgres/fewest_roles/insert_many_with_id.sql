-- $1 id of each row: text[], $2 data column 0 of each row: text[]
INSERT INTO "jobs" ("id", "note")
SELECT u.id, u.each0
FROM unnest($1, $2) WITH ORDINALITY AS u(id, each0, n)
ORDER BY u.n
RETURNING "jobs"."id";
