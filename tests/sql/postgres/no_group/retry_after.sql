-- $1 delay in microseconds of each row: bigint[], $2 id of each row: bigint[], $3 token of each row: bigint[], $4 stored count of each row: bigint[]
UPDATE "jobs" AS j
SET "locked_until" = NULL,
  "retry_after" = (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + ($1::bigint[])[array_position($2, j."id")]
WHERE j."id" = ANY (ARRAY (
  SELECT x.id
  FROM unnest($2, $3::bigint[], $4::bigint[]) AS u(id, token, attempt)
  CROSS JOIN LATERAL (
    SELECT c."id" AS id
    FROM "jobs" AS c
    WHERE c."id" = u.id AND c."locked_until" = u.token AND c."attempt" = u.attempt
    FOR NO KEY UPDATE SKIP LOCKED) AS x))
RETURNING j."id";
