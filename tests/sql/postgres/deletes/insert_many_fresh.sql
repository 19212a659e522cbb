-- $1 group: text, $2 payload of each row: bytea[]
INSERT INTO "jobs" ("kind", "attempt", "payload")
SELECT $1, 1, u.payload
FROM unnest($2) WITH ORDINALITY AS u(payload, n)
ORDER BY u.n
RETURNING "jobs"."id";
