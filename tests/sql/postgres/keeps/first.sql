-- $1 group: text, $2 limit: bigint
SELECT c."id"
FROM "jobs" AS c
WHERE c."kind" = $1
  AND c."done" IS NULL
  AND c."due" <= (extract(epoch FROM statement_timestamp()) * 1000000)::bigint
  AND (c."locked_until" IS NULL OR c."locked_until" <= (extract(epoch FROM statement_timestamp()) * 1000000)::bigint)
ORDER BY c."due", c."id"
LIMIT $2
FOR NO KEY UPDATE SKIP LOCKED;
