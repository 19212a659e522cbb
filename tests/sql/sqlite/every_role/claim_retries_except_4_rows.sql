-- now plus the lease, group, now, now, 4 x (id), limit
UPDATE "jobs" AS j
SET "locked_until" = ?,
  "attempt" = CASE WHEN j."attempt" < 2147483647 THEN j."attempt" + 1 ELSE j."attempt" END
WHERE j."id" IN (
  SELECT c."id"
  FROM "jobs" AS c
  WHERE c."id" IS NOT NULL
    AND c."kind" = ?
    AND c."processed_at" IS NULL
    AND coalesce(c."retry_after", '') <= ?
    AND (c."locked_until" IS NULL OR c."locked_until" <= ?)
    AND coalesce(c."retry_after", '') > ''
    AND c."id" NOT IN (VALUES (?), (?), (?), (?))
  ORDER BY coalesce(c."retry_after", ''), c."id"
  LIMIT ?)
RETURNING "id", "kind", "attempt" - 1 AS "attempt", "retry_after", "locked_until", "processed_at", "last_error", "payload", "note";
