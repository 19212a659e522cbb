-- group, now, limit
SELECT c."id"
FROM "jobs" AS c
WHERE c."id" IS NOT NULL
  AND c."kind" = ?
  AND (c."locked_until" IS NULL OR c."locked_until" <= ?)
ORDER BY c."id"
LIMIT ?;
