-- now in microseconds, now in microseconds, limit
SELECT c."id"
FROM "jobs" AS c
WHERE c."id" IS NOT NULL
  AND coalesce(c."retry_after", 0) <= ?
  AND (c."locked_until" IS NULL OR c."locked_until" <= ?)
ORDER BY coalesce(c."retry_after", 0), c."id"
LIMIT ?;
