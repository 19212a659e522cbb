-- $1 group: text, $2 retry_after of the last row or null in microseconds: bigint, $3 id of the last row: bigint, $4 limit: bigint
SELECT c."id"
FROM "jobs" AS c
WHERE c."kind" = $1
  AND c."done" IS NULL
  AND c."due" <= (extract(epoch FROM statement_timestamp()) * 1000000)::bigint
  AND (c."locked_until" IS NULL OR c."locked_until" <= (extract(epoch FROM statement_timestamp()) * 1000000)::bigint)
  AND (c."due", c."id") > (coalesce($2::bigint, 0), $3)
ORDER BY c."due", c."id"
LIMIT $4
FOR NO KEY UPDATE SKIP LOCKED;
