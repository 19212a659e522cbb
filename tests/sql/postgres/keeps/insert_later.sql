-- $1 group: text, $2 delay in microseconds: bigint, $3 data column 0: text
INSERT INTO "jobs" ("kind", "attempt", "due", "note")
VALUES ($1, 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + $2::bigint, $3)
RETURNING "jobs"."id";
