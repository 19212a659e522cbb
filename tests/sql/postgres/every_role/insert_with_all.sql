-- $1 id: bigint, $2 group: text, $3 delay in microseconds: bigint, $4 payload: bytea, $5 data column 0: text
INSERT INTO "jobs" ("id", "kind", "attempt", "retry_after", "payload", "note")
VALUES ($1, $2, 1, clock_timestamp() + $3::bigint * interval '1 microsecond', $4, $5)
RETURNING "jobs"."id";
