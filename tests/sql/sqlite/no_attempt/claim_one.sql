-- now plus the lease, id, group, now, now
UPDATE "jobs" AS j
SET "locked_until" = ?
WHERE j."id" IN (
  SELECT c."id"
  FROM "jobs" AS c
  WHERE c."id" = ?
    AND c."kind" = ?
    AND c."retry_after" <= ?
    AND (c."locked_until" IS NULL OR c."locked_until" <= ?))
RETURNING "id", "kind", "retry_after", "locked_until", "payload";
