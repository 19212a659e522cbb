-- $1 lease in microseconds: bigint, $2 group: text, $3 id of each row: bigint[], $4 limit: bigint
WITH w AS (
  UPDATE "my ""queue"""."order" AS j
  SET "say ""when""" = greatest(clock_timestamp() + $1::bigint * interval '1 microsecond', j."say ""when""" + interval '1 microsecond'),
    "Attempt" = CASE WHEN j."Attempt" < 2147483647 THEN j."Attempt" + 1 ELSE j."Attempt" END
  WHERE j."select" = ANY (ARRAY (
    SELECT c."select"
    FROM "my ""queue"""."order" AS c
    WHERE c."group" = $2
      AND coalesce(c."not :before", '-infinity') <= statement_timestamp()
      AND (c."say ""when""" IS NULL OR c."say ""when""" <= statement_timestamp())
      AND NOT (c."select" = ANY ($3))
    ORDER BY coalesce(c."not :before", '-infinity'), c."select"
    LIMIT $4
    FOR NO KEY UPDATE SKIP LOCKED))
  RETURNING j."select", j."group", (j."Attempt" - 1)::integer AS "Attempt", j."not :before", j."say ""when""", j."it's", j."a::b", j."from")
SELECT w."select", w."group", w."Attempt", w."not :before", w."say ""when""", w."it's", w."a::b", w."from"
FROM w
ORDER BY coalesce(w."not :before", '-infinity'), w."select";
