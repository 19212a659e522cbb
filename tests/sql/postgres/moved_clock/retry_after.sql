-- $1 shift of the clock in microseconds: bigint, $2 delay in microseconds of each row: bigint[], $3 id of each row: bigint[], $4 reason or null of each row: text[], $5 token of each row: timestamptz[], $6 stored count of each row: bigint[]
UPDATE "jobs" AS j
SET "locked_until" = NULL,
  "retry_after" = (clock_timestamp() + $1::bigint * interval '1 microsecond') + ($2::bigint[])[array_position($3, j."id")] * interval '1 microsecond',
  "last_error" = coalesce(($4::text[])[array_position($3, j."id")], j."last_error")
WHERE j."id" = ANY (ARRAY (
  SELECT x.id
  FROM unnest($3, $5::timestamptz[], $6::bigint[]) AS u(id, token, attempt)
  CROSS JOIN LATERAL (
    SELECT c."id" AS id
    FROM "jobs" AS c
    WHERE c."id" = u.id AND c."locked_until" = u.token AND c."attempt" = u.attempt
    FOR NO KEY UPDATE SKIP LOCKED) AS x))
RETURNING j."id";
