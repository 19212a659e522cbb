-- group, now in microseconds, now in microseconds, limit
SELECT c."id"
FROM "jobs" AS c
WHERE c."id" IS NOT NULL
  AND c."kind" = ?
  AND c."done" IS NULL
  AND c."due" <= ?
  AND (c."locked_until" IS NULL OR c."locked_until" <= ?)
ORDER BY c."due", c."id"
LIMIT ?;
