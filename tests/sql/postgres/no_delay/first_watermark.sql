-- $1 group: text, $2 id of the last row: bigint, $3 limit: bigint
SELECT c."id"
FROM "jobs" AS c
WHERE c."kind" = $1
  AND (c."locked_until" IS NULL OR c."locked_until" <= statement_timestamp())
  AND c."id" > $2
ORDER BY c."id"
LIMIT $3
FOR NO KEY UPDATE SKIP LOCKED;
