-- $1 group: text, $2 retry_after of the last row or null: timestamptz, $3 id of the last row: bigint, $4 limit: bigint
SELECT c."select"
FROM "my ""queue"""."order" AS c
WHERE c."group" = $1
  AND coalesce(c."not :before", '-infinity') <= statement_timestamp()
  AND (c."say ""when""" IS NULL OR c."say ""when""" <= statement_timestamp())
  AND (coalesce(c."not :before", '-infinity'), c."select") > (coalesce($2::timestamptz, '-infinity'), $3)
ORDER BY coalesce(c."not :before", '-infinity'), c."select"
LIMIT $4
FOR NO KEY UPDATE SKIP LOCKED;
