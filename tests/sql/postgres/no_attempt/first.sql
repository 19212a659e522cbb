-- $1 group: text, $2 limit: bigint
SELECT c."id"
FROM "jobs" AS c
WHERE c."kind" = $1
  AND c."retry_after" <= statement_timestamp()
  AND (c."locked_until" IS NULL OR c."locked_until" <= statement_timestamp())
ORDER BY c."retry_after", c."id"
LIMIT $2
FOR NO KEY UPDATE SKIP LOCKED;
