-- now plus the lease, id, group, now, now
UPDATE "jobs" AS j
SET "locked_until" = ?,
  "attempt" = CASE WHEN j."attempt" < 2147483647 THEN j."attempt" + 1 ELSE j."attempt" END
WHERE j."id" IN (
  SELECT c."id"
  FROM "jobs" AS c
  WHERE c."id" = ?
    AND c."kind" = ?
    AND coalesce(c."retry_after", '') <= ?
    AND (c."locked_until" IS NULL OR c."locked_until" <= ?))
RETURNING "id", "kind", "attempt" - 1 AS "attempt", "retry_after", "locked_until", "last_error", "payload";
