-- $1 group: text, $2 delay in microseconds: bigint, $3 payload of each row: text[]
INSERT INTO "jobs" ("kind", "retry_after", "payload")
SELECT $1, clock_timestamp() + $2::bigint * interval '1 microsecond', u.payload
FROM unnest($3) WITH ORDINALITY AS u(payload, n)
ORDER BY u.n
RETURNING "jobs"."id";
