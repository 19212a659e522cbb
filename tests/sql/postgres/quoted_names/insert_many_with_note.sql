-- $1 group: text, $2 delay in microseconds: bigint, $3 payload of each row: bytea[], $4 data column 0 of each row: text[]
INSERT INTO "my ""queue"""."order" ("group", "Attempt", "not :before", "a::b", "from")
SELECT $1, 1, clock_timestamp() + $2::bigint * interval '1 microsecond', u.payload, u.each0
FROM unnest($3, $4) WITH ORDINALITY AS u(payload, each0, n)
ORDER BY u.n
RETURNING "my ""queue"""."order"."select";
