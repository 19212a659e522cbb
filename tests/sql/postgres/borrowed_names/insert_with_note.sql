-- $1 group: text, $2 delay in microseconds: bigint, $3 payload: text, $4 data column 0: text
INSERT INTO "u" ("id", "due", "attempt", "next", "payload")
VALUES ($1, 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + $2::bigint, $3, $4)
RETURNING "u"."token";
