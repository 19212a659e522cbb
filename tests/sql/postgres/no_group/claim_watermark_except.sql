-- $1 lease in microseconds: bigint, $2 retry_after of the last row or null in microseconds: bigint, $3 id of the last row: bigint, $4 id of each row: bigint[], $5 limit: bigint
WITH w AS (
  UPDATE "jobs" AS j
  SET "locked_until" = greatest((extract(epoch FROM clock_timestamp()) * 1000000)::bigint + $1::bigint, j."locked_until" + 1),
    "attempt" = CASE WHEN j."attempt" < 9223372036854775807 THEN j."attempt" + 1 ELSE j."attempt" END
  WHERE j."id" = ANY (ARRAY (
    SELECT c."id"
    FROM "jobs" AS c
    WHERE coalesce(c."retry_after", 0) <= (extract(epoch FROM statement_timestamp()) * 1000000)::bigint
      AND (c."locked_until" IS NULL OR c."locked_until" <= (extract(epoch FROM statement_timestamp()) * 1000000)::bigint)
      AND (coalesce(c."retry_after", 0), c."id") > (coalesce($2::bigint, 0), $3)
      AND NOT (c."id" = ANY ($4))
    ORDER BY coalesce(c."retry_after", 0), c."id"
    LIMIT $5
    FOR NO KEY UPDATE SKIP LOCKED))
  RETURNING j."id", (j."attempt" - 1)::bigint AS "attempt", j."retry_after", j."locked_until", j."payload")
SELECT w."id", w."attempt", w."retry_after", w."locked_until", w."payload"
FROM w
ORDER BY coalesce(w."retry_after", 0), w."id";
