-- $1 group: text, $2 shift of the clock in microseconds: bigint, $3 delay in microseconds: bigint, $4 payload: bytea
INSERT INTO "jobs" ("kind", "attempt", "retry_after", "payload")
VALUES ($1, 1, (clock_timestamp() + $2::bigint * interval '1 microsecond') + $3::bigint * interval '1 microsecond', $4)
RETURNING "jobs"."id";
