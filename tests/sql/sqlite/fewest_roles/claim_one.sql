-- now plus the lease in microseconds, id, now in microseconds
UPDATE "jobs" AS j
SET "locked_until" = ?
WHERE j."id" IN (
  SELECT c."id"
  FROM "jobs" AS c
  WHERE c."id" = ?
    AND (c."locked_until" IS NULL OR c."locked_until" <= ?))
RETURNING "id", "locked_until", "note";
