-- $1 group: text, $2 delay in microseconds: bigint, $3 payload: bytea, $4 data column 0: text
INSERT INTO "my ""queue"""."order" ("group", "Attempt", "not :before", "a::b", "from")
VALUES ($1, 1, clock_timestamp() + $2::bigint * interval '1 microsecond', $3, $4)
RETURNING "my ""queue"""."order"."select";
