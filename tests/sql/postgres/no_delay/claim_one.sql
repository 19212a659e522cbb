-- $1 lease in microseconds: bigint, $2 id: bigint, $3 group: text
WITH w AS (
  UPDATE "jobs" AS j
  SET "locked_until" = greatest(clock_timestamp() + $1::bigint * interval '1 microsecond', j."locked_until" + interval '1 microsecond'),
    "attempt" = CASE WHEN j."attempt" < 32767 THEN j."attempt" + 1 ELSE j."attempt" END
  WHERE j."id" = ANY (ARRAY (
    SELECT c."id"
    FROM (
      SELECT r."id", r."kind", r."locked_until"
      FROM "jobs" AS r
      WHERE r."id" = $2
      LIMIT 1
      FOR NO KEY UPDATE SKIP LOCKED) AS c
    WHERE c."kind" = $3
      AND (c."locked_until" IS NULL OR c."locked_until" <= statement_timestamp())))
  RETURNING j."id", j."kind", (j."attempt" - 1)::smallint AS "attempt", j."locked_until", j."last_error", j."payload")
SELECT w."id", w."kind", w."attempt", w."locked_until", w."last_error", w."payload"
FROM w
ORDER BY w."id";
