-- now plus the lease in microseconds, now in microseconds, 1 x (id), limit
UPDATE "jobs" AS j
SET "locked_until" = ?
WHERE j."id" IN (
  SELECT c."id"
  FROM "jobs" AS c
  WHERE c."id" IS NOT NULL
    AND (c."locked_until" IS NULL OR c."locked_until" <= ?)
    AND c."id" NOT IN (VALUES (?))
  ORDER BY c."id"
  LIMIT ?)
RETURNING "id", "locked_until", "note";
