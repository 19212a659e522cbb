-- $1 group: text, $2 retry_after of the last row or null: timestamptz, $3 id of the last row: bigint, $4 limit: bigint
SELECT c."id"
FROM "jobs" AS c
WHERE c."kind" = $1
  AND c."retry_after" <= statement_timestamp()
  AND (c."locked_until" IS NULL OR c."locked_until" <= statement_timestamp())
  AND (c."retry_after", c."id") > (coalesce($2::timestamptz, '-infinity'), $3)
ORDER BY c."retry_after", c."id"
LIMIT $4
FOR NO KEY UPDATE SKIP LOCKED;
