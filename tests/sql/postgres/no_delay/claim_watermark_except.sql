-- $1 lease in microseconds: bigint, $2 group: text, $3 id of the last row: bigint, $4 id of each row: bigint[], $5 limit: bigint
WITH w AS (
  UPDATE "jobs" AS j
  SET "locked_until" = greatest(clock_timestamp() + $1::bigint * interval '1 microsecond', j."locked_until" + interval '1 microsecond'),
    "attempt" = CASE WHEN j."attempt" < 32767 THEN j."attempt" + 1 ELSE j."attempt" END
  WHERE j."id" = ANY (ARRAY (
    SELECT c."id"
    FROM "jobs" AS c
    WHERE c."kind" = $2
      AND (c."locked_until" IS NULL OR c."locked_until" <= statement_timestamp())
      AND c."id" > $3
      AND NOT (c."id" = ANY ($4))
    ORDER BY c."id"
    LIMIT $5
    FOR NO KEY UPDATE SKIP LOCKED))
  RETURNING j."id", j."kind", (j."attempt" - 1)::smallint AS "attempt", j."locked_until", j."last_error", j."payload")
SELECT w."id", w."kind", w."attempt", w."locked_until", w."last_error", w."payload"
FROM w
ORDER BY w."id";
