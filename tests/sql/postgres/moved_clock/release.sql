-- $1 shift of the clock in microseconds: bigint, $2 id of each row: bigint[], $3 token of each row: timestamptz[], $4 stored count of each row: bigint[]
UPDATE "jobs" AS j
SET "locked_until" = (clock_timestamp() + $1::bigint * interval '1 microsecond')
WHERE j."id" = ANY (ARRAY (
  SELECT x.id
  FROM unnest($2, $3::timestamptz[], $4::bigint[]) AS u(id, token, attempt)
  CROSS JOIN LATERAL (
    SELECT c."id" AS id
    FROM "jobs" AS c
    WHERE c."id" = u.id AND c."locked_until" = u.token AND c."attempt" = u.attempt
    FOR NO KEY UPDATE SKIP LOCKED) AS x))
RETURNING j."id";
