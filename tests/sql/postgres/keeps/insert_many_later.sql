-- $1 group: text, $2 delay in microseconds: bigint, $3 data column 0 of each row: text[]
INSERT INTO "jobs" ("kind", "attempt", "due", "note")
SELECT $1, 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + $2::bigint, u.each0
FROM unnest($3) WITH ORDINALITY AS u(each0, n)
ORDER BY u.n
RETURNING "jobs"."id";
