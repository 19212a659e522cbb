-- $1 group: text, $2 limit: bigint
SELECT c."id"
FROM "jobs" AS c
WHERE c."kind" = $1
  AND coalesce(c."retry_after", '-infinity') <= statement_timestamp()
  AND (c."locked_until" IS NULL OR c."locked_until" <= statement_timestamp())
ORDER BY coalesce(c."retry_after", '-infinity'), c."id"
LIMIT $2
FOR NO KEY UPDATE SKIP LOCKED;
