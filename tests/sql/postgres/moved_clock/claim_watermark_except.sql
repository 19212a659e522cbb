-- $1 shift of the clock in microseconds: bigint, $2 lease in microseconds: bigint, $3 group: text, $4 retry_after of the last row or null: timestamptz, $5 id of the last row: bigint, $6 id of each row: bigint[], $7 limit: bigint
WITH w AS (
  UPDATE "jobs" AS j
  SET "locked_until" = greatest((clock_timestamp() + $1::bigint * interval '1 microsecond') + $2::bigint * interval '1 microsecond', j."locked_until" + interval '1 microsecond'),
    "attempt" = CASE WHEN j."attempt" < 2147483647 THEN j."attempt" + 1 ELSE j."attempt" END
  WHERE j."id" = ANY (ARRAY (
    SELECT c."id"
    FROM "jobs" AS c
    WHERE c."kind" = $3
      AND c."processed_at" IS NULL
      AND coalesce(c."retry_after", '-infinity') <= (statement_timestamp() + $1::bigint * interval '1 microsecond')
      AND (c."locked_until" IS NULL OR c."locked_until" <= (statement_timestamp() + $1::bigint * interval '1 microsecond'))
      AND (coalesce(c."retry_after", '-infinity'), c."id") > (coalesce($4::timestamptz, '-infinity'), $5)
      AND NOT (c."id" = ANY ($6))
    ORDER BY coalesce(c."retry_after", '-infinity'), c."id"
    LIMIT $7
    FOR NO KEY UPDATE SKIP LOCKED))
  RETURNING j."id", j."kind", (j."attempt" - 1)::integer AS "attempt", j."retry_after", j."locked_until", j."processed_at", j."last_error", j."payload", j."note")
SELECT w."id", w."kind", w."attempt", w."retry_after", w."locked_until", w."processed_at", w."last_error", w."payload", w."note"
FROM w
ORDER BY coalesce(w."retry_after", '-infinity'), w."id";
