-- $1 group: text, $2 data column 0: text, $3 payload of each row: bytea[]
INSERT INTO "jobs" ("kind", "attempt", "payload", "note")
SELECT $1, 1, u.payload, $2
FROM unnest($3) WITH ORDINALITY AS u(payload, n)
ORDER BY u.n
RETURNING "jobs"."id";
