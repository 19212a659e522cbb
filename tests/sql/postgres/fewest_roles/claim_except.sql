-- $1 lease in microseconds: bigint, $2 id of each row: text[], $3 limit: bigint
WITH w AS (
  UPDATE "jobs" AS j
  SET "locked_until" = greatest((extract(epoch FROM clock_timestamp()) * 1000000)::bigint + $1::bigint, j."locked_until" + 1)
  WHERE j."id" = ANY (ARRAY (
    SELECT c."id"
    FROM "jobs" AS c
    WHERE (c."locked_until" IS NULL OR c."locked_until" <= (extract(epoch FROM statement_timestamp()) * 1000000)::bigint)
      AND NOT (c."id" = ANY ($2))
    ORDER BY c."id"
    LIMIT $3
    FOR NO KEY UPDATE SKIP LOCKED))
  RETURNING j."id", j."locked_until", j."note")
SELECT w."id", w."locked_until", w."note"
FROM w
ORDER BY w."id";
