-- $1 group: text, $2 retry_after of the last row or null: timestamptz, $3 id of the last row: bigint, $4 limit: bigint
SELECT c."id"
FROM "jobs" AS c
WHERE c."kind" = $1
  AND c."processed_at" IS NULL
  AND coalesce(c."retry_after", '-infinity') <= statement_timestamp()
  AND (c."locked_until" IS NULL OR c."locked_until" <= statement_timestamp())
  AND (coalesce(c."retry_after", '-infinity'), c."id") > (coalesce($2::timestamptz, '-infinity'), $3)
ORDER BY coalesce(c."retry_after", '-infinity'), c."id"
LIMIT $4
FOR NO KEY UPDATE SKIP LOCKED;
