-- $1 lease in microseconds: bigint, $2 id: bigint, $3 group: text
WITH w AS (
  UPDATE "jobs" AS j
  SET "locked_until" = greatest((extract(epoch FROM clock_timestamp()) * 1000000)::bigint + $1::bigint, j."locked_until" + 1),
    "attempt" = CASE WHEN j."attempt" < 32767 THEN j."attempt" + 1 ELSE j."attempt" END
  WHERE j."id" = ANY (ARRAY (
    SELECT c."id"
    FROM (
      SELECT r."id", r."kind", r."done", r."due", r."locked_until"
      FROM "jobs" AS r
      WHERE r."id" = $2
      LIMIT 1
      FOR NO KEY UPDATE SKIP LOCKED) AS c
    WHERE c."kind" = $3
      AND c."done" IS NULL
      AND c."due" <= (extract(epoch FROM statement_timestamp()) * 1000000)::bigint
      AND (c."locked_until" IS NULL OR c."locked_until" <= (extract(epoch FROM statement_timestamp()) * 1000000)::bigint)))
  RETURNING j."id", j."kind", (j."attempt" - 1)::smallint AS "attempt", j."due", j."locked_until", j."done", j."note")
SELECT w."id", w."kind", w."attempt", w."due", w."locked_until", w."done", w."note"
FROM w
ORDER BY w."due", w."id";
