-- $1 group: text, $2 delay in microseconds: bigint, $3 id of each row: bigint[], $4 payload of each row: bytea[], $5 data column 0 of each row: text[]
INSERT INTO "jobs" ("id", "kind", "attempt", "retry_after", "payload", "note")
SELECT u.id, $1, 1, clock_timestamp() + $2::bigint * interval '1 microsecond', u.payload, u.each0
FROM unnest($3, $4, $5) WITH ORDINALITY AS u(id, payload, each0, n)
ORDER BY u.n
RETURNING "jobs"."id";
