-- now plus the lease in microseconds, id, now in microseconds, now in microseconds
UPDATE "jobs" AS j
SET "locked_until" = ?,
  "attempt" = CASE WHEN j."attempt" < 9223372036854775807 THEN j."attempt" + 1 ELSE j."attempt" END
WHERE j."id" IN (
  SELECT c."id"
  FROM "jobs" AS c
  WHERE c."id" = ?
    AND coalesce(c."retry_after", 0) <= ?
    AND (c."locked_until" IS NULL OR c."locked_until" <= ?))
RETURNING "id", "attempt" - 1 AS "attempt", "retry_after", "locked_until", "payload";
