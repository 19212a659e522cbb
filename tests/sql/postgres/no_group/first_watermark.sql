-- $1 retry_after of the last row or null in microseconds: bigint, $2 id of the last row: bigint, $3 limit: bigint
SELECT c."id"
FROM "jobs" AS c
WHERE coalesce(c."retry_after", 0) <= (extract(epoch FROM statement_timestamp()) * 1000000)::bigint
  AND (c."locked_until" IS NULL OR c."locked_until" <= (extract(epoch FROM statement_timestamp()) * 1000000)::bigint)
  AND (coalesce(c."retry_after", 0), c."id") > (coalesce($1::bigint, 0), $2)
ORDER BY coalesce(c."retry_after", 0), c."id"
LIMIT $3
FOR NO KEY UPDATE SKIP LOCKED;
