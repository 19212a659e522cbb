-- now plus the lease in microseconds, id, group, now in microseconds, now in microseconds
UPDATE "jobs" AS j
SET "locked_until" = ?,
  "attempt" = CASE WHEN j."attempt" < 32767 THEN j."attempt" + 1 ELSE j."attempt" END
WHERE j."id" IN (
  SELECT c."id"
  FROM "jobs" AS c
  WHERE c."id" = ?
    AND c."kind" = ?
    AND c."done" IS NULL
    AND c."due" <= ?
    AND (c."locked_until" IS NULL OR c."locked_until" <= ?))
RETURNING "id", "kind", "attempt" - 1 AS "attempt", "due", "locked_until", "done", "note";
