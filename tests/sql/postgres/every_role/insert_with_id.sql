-- $1 id: bigint, $2 group: text, $3 payload: bytea
INSERT INTO "jobs" ("id", "kind", "attempt", "payload")
VALUES ($1, $2, 1, $3)
RETURNING "jobs"."id";
