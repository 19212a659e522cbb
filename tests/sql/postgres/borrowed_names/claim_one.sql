-- $1 lease in microseconds: bigint, $2 id: bigint, $3 group: text
WITH w AS (
  UPDATE "u" AS j
  SET "reason" = greatest((extract(epoch FROM clock_timestamp()) * 1000000)::bigint + $1::bigint, j."reason" + 1),
    "due" = CASE WHEN j."due" < 2147483647 THEN j."due" + 1 ELSE j."due" END
  WHERE j."token" = ANY (ARRAY (
    SELECT c."token"
    FROM (
      SELECT r."token", r."id", r."attempt", r."reason"
      FROM "u" AS r
      WHERE r."token" = $2
      LIMIT 1
      FOR NO KEY UPDATE SKIP LOCKED) AS c
    WHERE c."id" = $3
      AND coalesce(c."attempt", 0) <= (extract(epoch FROM statement_timestamp()) * 1000000)::bigint
      AND (c."reason" IS NULL OR c."reason" <= (extract(epoch FROM statement_timestamp()) * 1000000)::bigint)))
  RETURNING j."token", j."id", (j."due" - 1)::integer AS "due", j."attempt", j."reason", j."n", j."next", j."payload")
SELECT w."token", w."id", w."due", w."attempt", w."reason", w."n", w."next", w."payload"
FROM w
ORDER BY coalesce(w."attempt", 0), w."token";
