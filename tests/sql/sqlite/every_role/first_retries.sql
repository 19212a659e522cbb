-- group, now, now, limit
SELECT c."id"
FROM "jobs" AS c
WHERE c."id" IS NOT NULL
  AND c."kind" = ?
  AND c."processed_at" IS NULL
  AND coalesce(c."retry_after", '') <= ?
  AND (c."locked_until" IS NULL OR c."locked_until" <= ?)
  AND coalesce(c."retry_after", '') > ''
ORDER BY coalesce(c."retry_after", ''), c."id"
LIMIT ?;
