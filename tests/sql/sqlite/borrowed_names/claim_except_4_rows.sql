-- now plus the lease in microseconds, group, now in microseconds, now in microseconds, 4 x (id), limit
UPDATE "u" AS j
SET "reason" = ?,
  "due" = CASE WHEN j."due" < 2147483647 THEN j."due" + 1 ELSE j."due" END
WHERE j."token" IN (
  SELECT c."token"
  FROM "u" AS c
  WHERE c."token" IS NOT NULL
    AND c."id" = ?
    AND coalesce(c."attempt", 0) <= ?
    AND (c."reason" IS NULL OR c."reason" <= ?)
    AND c."token" NOT IN (VALUES (?), (?), (?), (?))
  ORDER BY coalesce(c."attempt", 0), c."token"
  LIMIT ?)
RETURNING "token", "id", "due" - 1 AS "due", "attempt", "reason", "n", "next", "payload";
