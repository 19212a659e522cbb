-- $1 lease in microseconds: bigint, $2 group: text, $3 retry_after of the last row or null in microseconds: bigint, $4 id of the last row: bigint, $5 id of each row: bigint[], $6 limit: bigint
WITH w AS (
  UPDATE "u" AS j
  SET "reason" = greatest((extract(epoch FROM clock_timestamp()) * 1000000)::bigint + $1::bigint, j."reason" + 1),
    "due" = CASE WHEN j."due" < 2147483647 THEN j."due" + 1 ELSE j."due" END
  WHERE j."token" = ANY (ARRAY (
    SELECT c."token"
    FROM "u" AS c
    WHERE c."id" = $2
      AND coalesce(c."attempt", 0) <= (extract(epoch FROM statement_timestamp()) * 1000000)::bigint
      AND (c."reason" IS NULL OR c."reason" <= (extract(epoch FROM statement_timestamp()) * 1000000)::bigint)
      AND (coalesce(c."attempt", 0), c."token") > (coalesce($3::bigint, 0), $4)
      AND NOT (c."token" = ANY ($5))
    ORDER BY coalesce(c."attempt", 0), c."token"
    LIMIT $6
    FOR NO KEY UPDATE SKIP LOCKED))
  RETURNING j."token", j."id", (j."due" - 1)::integer AS "due", j."attempt", j."reason", j."n", j."next", j."payload")
SELECT w."token", w."id", w."due", w."attempt", w."reason", w."n", w."next", w."payload"
FROM w
ORDER BY coalesce(w."attempt", 0), w."token";
