-- $1 delay in microseconds of each row: bigint[], $2 id of each row: bigint[], $3 token of each row: timestamptz[]
UPDATE "jobs" AS j
SET "locked_until" = NULL,
  "retry_after" = clock_timestamp() + ($1::bigint[])[array_position($2, j."id")] * interval '1 microsecond'
WHERE j."id" = ANY (ARRAY (
  SELECT x.id
  FROM unnest($2, $3::timestamptz[]) AS u(id, token)
  CROSS JOIN LATERAL (
    SELECT c."id" AS id
    FROM "jobs" AS c
    WHERE c."id" = u.id AND c."locked_until" = u.token
    FOR NO KEY UPDATE SKIP LOCKED) AS x))
RETURNING j."id";
