-- $1 group: text, $2 limit: bigint
SELECT c."select"
FROM "my ""queue"""."order" AS c
WHERE c."group" = $1
  AND coalesce(c."not :before", '-infinity') <= statement_timestamp()
  AND (c."say ""when""" IS NULL OR c."say ""when""" <= statement_timestamp())
  AND coalesce(c."not :before", '-infinity') > '-infinity'
ORDER BY coalesce(c."not :before", '-infinity'), c."select"
LIMIT $2
FOR NO KEY UPDATE SKIP LOCKED;
