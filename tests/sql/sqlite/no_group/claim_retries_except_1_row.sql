-- now plus the lease in microseconds, now in microseconds, now in microseconds, 1 x (id), limit
UPDATE "jobs" AS j
SET "locked_until" = ?,
  "attempt" = CASE WHEN j."attempt" < 9223372036854775807 THEN j."attempt" + 1 ELSE j."attempt" END
WHERE j."id" IN (
  SELECT c."id"
  FROM "jobs" AS c
  WHERE c."id" IS NOT NULL
    AND coalesce(c."retry_after", 0) <= ?
    AND (c."locked_until" IS NULL OR c."locked_until" <= ?)
    AND coalesce(c."retry_after", 0) > 0
    AND c."id" NOT IN (VALUES (?))
  ORDER BY coalesce(c."retry_after", 0), c."id"
  LIMIT ?)
RETURNING "id", "attempt" - 1 AS "attempt", "retry_after", "locked_until", "payload";
