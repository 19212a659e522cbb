-- $1 limit: bigint
SELECT c."id"
FROM "jobs" AS c
WHERE coalesce(c."retry_after", 0) <= (extract(epoch FROM statement_timestamp()) * 1000000)::bigint
  AND (c."locked_until" IS NULL OR c."locked_until" <= (extract(epoch FROM statement_timestamp()) * 1000000)::bigint)
  AND coalesce(c."retry_after", 0) > 0
ORDER BY coalesce(c."retry_after", 0), c."id"
LIMIT $1
FOR NO KEY UPDATE SKIP LOCKED;
