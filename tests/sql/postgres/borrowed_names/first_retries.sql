-- $1 group: text, $2 limit: bigint
SELECT c."token"
FROM "u" AS c
WHERE c."id" = $1
  AND coalesce(c."attempt", 0) <= (extract(epoch FROM statement_timestamp()) * 1000000)::bigint
  AND (c."reason" IS NULL OR c."reason" <= (extract(epoch FROM statement_timestamp()) * 1000000)::bigint)
  AND coalesce(c."attempt", 0) > 0
ORDER BY coalesce(c."attempt", 0), c."token"
LIMIT $2
FOR NO KEY UPDATE SKIP LOCKED;
