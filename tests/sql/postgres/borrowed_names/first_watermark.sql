-- $1 group: text, $2 retry_after of the last row or null in microseconds: bigint, $3 id of the last row: bigint, $4 limit: bigint
SELECT c."token"
FROM "u" AS c
WHERE c."id" = $1
  AND coalesce(c."attempt", 0) <= (extract(epoch FROM statement_timestamp()) * 1000000)::bigint
  AND (c."reason" IS NULL OR c."reason" <= (extract(epoch FROM statement_timestamp()) * 1000000)::bigint)
  AND (coalesce(c."attempt", 0), c."token") > (coalesce($2::bigint, 0), $3)
ORDER BY coalesce(c."attempt", 0), c."token"
LIMIT $4
FOR NO KEY UPDATE SKIP LOCKED;
