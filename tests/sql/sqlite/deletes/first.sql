-- group, now, now, limit
SELECT c."id"
FROM "jobs" AS c
WHERE c."id" IS NOT NULL
  AND c."kind" = ?
  AND coalesce(c."retry_after", '') <= ?
  AND (c."locked_until" IS NULL OR c."locked_until" <= ?)
ORDER BY coalesce(c."retry_after", ''), c."id"
LIMIT ?;
