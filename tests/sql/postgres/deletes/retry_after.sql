-- $1 delay in microseconds of each row: bigint[], $2 id of each row: bigint[], $3 reason or null of each row: text[], $4 token of each row: timestamptz[], $5 stored count of each row: bigint[]
UPDATE "jobs" AS j
SET "locked_until" = NULL,
  "retry_after" = clock_timestamp() + ($1::bigint[])[array_position($2, j."id")] * interval '1 microsecond',
  "last_error" = coalesce(($3::text[])[array_position($2, j."id")], j."last_error")
WHERE j."id" = ANY (ARRAY (
  SELECT x.id
  FROM unnest($2, $4::timestamptz[], $5::bigint[]) AS u(id, token, attempt)
  CROSS JOIN LATERAL (
    SELECT c."id" AS id
    FROM "jobs" AS c
    WHERE c."id" = u.id AND c."locked_until" = u.token AND c."attempt" = u.attempt
    FOR NO KEY UPDATE SKIP LOCKED) AS x))
RETURNING j."id";
