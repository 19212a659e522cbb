-- $1 lease in microseconds: bigint, $2 id: bigint
WITH w AS (
  UPDATE "jobs" AS j
  SET "locked_until" = greatest((extract(epoch FROM clock_timestamp()) * 1000000)::bigint + $1::bigint, j."locked_until" + 1),
    "attempt" = CASE WHEN j."attempt" < 9223372036854775807 THEN j."attempt" + 1 ELSE j."attempt" END
  WHERE j."id" = ANY (ARRAY (
    SELECT c."id"
    FROM (
      SELECT r."id", r."retry_after", r."locked_until"
      FROM "jobs" AS r
      WHERE r."id" = $2
      LIMIT 1
      FOR NO KEY UPDATE SKIP LOCKED) AS c
    WHERE coalesce(c."retry_after", 0) <= (extract(epoch FROM statement_timestamp()) * 1000000)::bigint
      AND (c."locked_until" IS NULL OR c."locked_until" <= (extract(epoch FROM statement_timestamp()) * 1000000)::bigint)))
  RETURNING j."id", (j."attempt" - 1)::bigint AS "attempt", j."retry_after", j."locked_until", j."payload")
SELECT w."id", w."attempt", w."retry_after", w."locked_until", w."payload"
FROM w
ORDER BY coalesce(w."retry_after", 0), w."id";
