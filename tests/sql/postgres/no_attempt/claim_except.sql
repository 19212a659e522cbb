-- $1 lease in microseconds: bigint, $2 group: text, $3 id of each row: bigint[], $4 limit: bigint
WITH w AS (
  UPDATE "jobs" AS j
  SET "locked_until" = greatest(clock_timestamp() + $1::bigint * interval '1 microsecond', j."locked_until" + interval '1 microsecond')
  WHERE j."id" = ANY (ARRAY (
    SELECT c."id"
    FROM "jobs" AS c
    WHERE c."kind" = $2
      AND c."retry_after" <= statement_timestamp()
      AND (c."locked_until" IS NULL OR c."locked_until" <= statement_timestamp())
      AND NOT (c."id" = ANY ($3))
    ORDER BY c."retry_after", c."id"
    LIMIT $4
    FOR NO KEY UPDATE SKIP LOCKED))
  RETURNING j."id", j."kind", j."retry_after", j."locked_until", j."payload")
SELECT w."id", w."kind", w."retry_after", w."locked_until", w."payload"
FROM w
ORDER BY w."retry_after", w."id";
