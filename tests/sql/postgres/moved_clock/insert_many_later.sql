-- $1 group: text, $2 shift of the clock in microseconds: bigint, $3 delay in microseconds: bigint, $4 payload of each row: bytea[]
INSERT INTO "jobs" ("kind", "attempt", "retry_after", "payload")
SELECT $1, 1, (clock_timestamp() + $2::bigint * interval '1 microsecond') + $3::bigint * interval '1 microsecond', u.payload
FROM unnest($4) WITH ORDINALITY AS u(payload, n)
ORDER BY u.n
RETURNING "jobs"."id";
