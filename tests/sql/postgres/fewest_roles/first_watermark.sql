-- $1 id of the last row: text, $2 limit: bigint
SELECT c."id"
FROM "jobs" AS c
WHERE (c."locked_until" IS NULL OR c."locked_until" <= (extract(epoch FROM statement_timestamp()) * 1000000)::bigint)
  AND c."id" > $1
ORDER BY c."id"
LIMIT $2
FOR NO KEY UPDATE SKIP LOCKED;
