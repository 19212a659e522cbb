-- group, now in microseconds, now in microseconds, limit
SELECT c."token"
FROM "u" AS c
WHERE c."token" IS NOT NULL
  AND c."id" = ?
  AND coalesce(c."attempt", 0) <= ?
  AND (c."reason" IS NULL OR c."reason" <= ?)
  AND coalesce(c."attempt", 0) > 0
ORDER BY coalesce(c."attempt", 0), c."token"
LIMIT ?;
