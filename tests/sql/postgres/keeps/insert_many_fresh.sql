-- $1 group: text, $2 data column 0 of each row: text[]
INSERT INTO "jobs" ("kind", "attempt", "note")
SELECT $1, 1, u.each0
FROM unnest($2) WITH ORDINALITY AS u(each0, n)
ORDER BY u.n
RETURNING "jobs"."id";
