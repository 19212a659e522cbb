-- now plus the lease, group, now, now, 4 x (id), limit
UPDATE "jobs" AS j
SET "locked_until" = ?
WHERE j."id" IN (
  SELECT c."id"
  FROM "jobs" AS c
  WHERE c."id" IS NOT NULL
    AND c."kind" = ?
    AND c."retry_after" <= ?
    AND (c."locked_until" IS NULL OR c."locked_until" <= ?)
    AND c."id" NOT IN (VALUES (?), (?), (?), (?))
  ORDER BY c."retry_after", c."id"
  LIMIT ?)
RETURNING "id", "kind", "retry_after", "locked_until", "payload";
