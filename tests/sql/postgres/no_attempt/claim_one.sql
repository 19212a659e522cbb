-- $1 lease in microseconds: bigint, $2 id: bigint, $3 group: text
WITH w AS (
  UPDATE "jobs" AS j
  SET "locked_until" = greatest(clock_timestamp() + $1::bigint * interval '1 microsecond', j."locked_until" + interval '1 microsecond')
  WHERE j."id" = ANY (ARRAY (
    SELECT c."id"
    FROM (
      SELECT r."id", r."kind", r."retry_after", r."locked_until"
      FROM "jobs" AS r
      WHERE r."id" = $2
      LIMIT 1
      FOR NO KEY UPDATE SKIP LOCKED) AS c
    WHERE c."kind" = $3
      AND c."retry_after" <= statement_timestamp()
      AND (c."locked_until" IS NULL OR c."locked_until" <= statement_timestamp())))
  RETURNING j."id", j."kind", j."retry_after", j."locked_until", j."payload")
SELECT w."id", w."kind", w."retry_after", w."locked_until", w."payload"
FROM w
ORDER BY w."retry_after", w."id";
