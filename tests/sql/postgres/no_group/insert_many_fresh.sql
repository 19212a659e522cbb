-- $1 payload of each row: text[]
INSERT INTO "jobs" ("attempt", "payload")
SELECT 1, u.payload
FROM unnest($1) WITH ORDINALITY AS u(payload, n)
ORDER BY u.n
RETURNING "jobs"."id";
