-- $1 group: text, $2 delay in microseconds: bigint, $3 payload of each row: text[], $4 data column 0 of each row: text[]
INSERT INTO "u" ("id", "due", "attempt", "next", "payload")
SELECT $1, 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + $2::bigint, u.payload, u.each0
FROM unnest($3, $4) WITH ORDINALITY AS u(payload, each0, n)
ORDER BY u.n
RETURNING "u"."token";
