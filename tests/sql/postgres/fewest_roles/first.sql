-- $1 limit: bigint
SELECT c."id"
FROM "jobs" AS c
WHERE (c."locked_until" IS NULL OR c."locked_until" <= (extract(epoch FROM statement_timestamp()) * 1000000)::bigint)
ORDER BY c."id"
LIMIT $1
FOR NO KEY UPDATE SKIP LOCKED;
