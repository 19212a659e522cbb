-- $1 group: text, $2 id of each row: bigint[], $3 payload of each row: bytea[]
INSERT INTO "jobs" ("id", "kind", "attempt", "payload")
SELECT u.id, $1, 1, u.payload
FROM unnest($2, $3) WITH ORDINALITY AS u(id, payload, n)
ORDER BY u.n
RETURNING "jobs"."id";
