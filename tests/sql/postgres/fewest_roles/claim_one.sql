-- $1 lease in microseconds: bigint, $2 id: text
WITH w AS (
  UPDATE "jobs" AS j
  SET "locked_until" = greatest((extract(epoch FROM clock_timestamp()) * 1000000)::bigint + $1::bigint, j."locked_until" + 1)
  WHERE j."id" = ANY (ARRAY (
    SELECT c."id"
    FROM (
      SELECT r."id", r."locked_until"
      FROM "jobs" AS r
      WHERE r."id" = $2
      LIMIT 1
      FOR NO KEY UPDATE SKIP LOCKED) AS c
    WHERE (c."locked_until" IS NULL OR c."locked_until" <= (extract(epoch FROM statement_timestamp()) * 1000000)::bigint)))
  RETURNING j."id", j."locked_until", j."note")
SELECT w."id", w."locked_until", w."note"
FROM w
ORDER BY w."id";
