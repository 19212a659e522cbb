-- $1 lease in microseconds: bigint, $2 id: bigint, $3 group: text
WITH w AS (
  UPDATE "my ""queue"""."order" AS j
  SET "say ""when""" = greatest(clock_timestamp() + $1::bigint * interval '1 microsecond', j."say ""when""" + interval '1 microsecond'),
    "Attempt" = CASE WHEN j."Attempt" < 2147483647 THEN j."Attempt" + 1 ELSE j."Attempt" END
  WHERE j."select" = ANY (ARRAY (
    SELECT c."select"
    FROM (
      SELECT r."select", r."group", r."not :before", r."say ""when"""
      FROM "my ""queue"""."order" AS r
      WHERE r."select" = $2
      LIMIT 1
      FOR NO KEY UPDATE SKIP LOCKED) AS c
    WHERE c."group" = $3
      AND coalesce(c."not :before", '-infinity') <= statement_timestamp()
      AND (c."say ""when""" IS NULL OR c."say ""when""" <= statement_timestamp())))
  RETURNING j."select", j."group", (j."Attempt" - 1)::integer AS "Attempt", j."not :before", j."say ""when""", j."it's", j."a::b", j."from")
SELECT w."select", w."group", w."Attempt", w."not :before", w."say ""when""", w."it's", w."a::b", w."from"
FROM w
ORDER BY coalesce(w."not :before", '-infinity'), w."select";
