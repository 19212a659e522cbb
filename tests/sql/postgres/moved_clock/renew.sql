-- $1 shift of the clock in microseconds: bigint, $2 lease in microseconds: bigint, $3 id of each row: bigint[], $4 token of each row: timestamptz[], $5 stored count of each row: bigint[]
UPDATE "jobs" AS j
SET "locked_until" = greatest((clock_timestamp() + $1::bigint * interval '1 microsecond') + $2::bigint * interval '1 microsecond', j."locked_until" + interval '1 microsecond')
WHERE j."id" = ANY (ARRAY (
  SELECT x.id
  FROM unnest($3, $4::timestamptz[], $5::bigint[]) AS u(id, token, attempt)
  CROSS JOIN LATERAL (
    SELECT c."id" AS id
    FROM "jobs" AS c
    WHERE c."id" = u.id AND c."locked_until" = u.token AND c."attempt" = u.attempt
    FOR NO KEY UPDATE SKIP LOCKED) AS x))
RETURNING j."id", j."locked_until";
