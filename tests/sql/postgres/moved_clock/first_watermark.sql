-- $1 group: text, $2 shift of the clock in microseconds: bigint, $3 retry_after of the last row or null: timestamptz, $4 id of the last row: bigint, $5 limit: bigint
SELECT c."id"
FROM "jobs" AS c
WHERE c."kind" = $1
  AND c."processed_at" IS NULL
  AND coalesce(c."retry_after", '-infinity') <= (statement_timestamp() + $2::bigint * interval '1 microsecond')
  AND (c."locked_until" IS NULL OR c."locked_until" <= (statement_timestamp() + $2::bigint * interval '1 microsecond'))
  AND (coalesce(c."retry_after", '-infinity'), c."id") > (coalesce($3::timestamptz, '-infinity'), $4)
ORDER BY coalesce(c."retry_after", '-infinity'), c."id"
LIMIT $5
FOR NO KEY UPDATE SKIP LOCKED;
