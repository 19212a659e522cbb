-- group, now, now, limit
SELECT c."select"
FROM "my ""queue"""."order" AS c
WHERE c."select" IS NOT NULL
  AND c."group" = ?
  AND coalesce(c."not :before", '') <= ?
  AND (c."say ""when""" IS NULL OR c."say ""when""" <= ?)
  AND coalesce(c."not :before", '') > ''
ORDER BY coalesce(c."not :before", ''), c."select"
LIMIT ?;
