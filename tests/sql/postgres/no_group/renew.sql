-- $1 lease in microseconds: bigint, $2 id of each row: bigint[], $3 token of each row: bigint[], $4 stored count of each row: bigint[]
UPDATE "jobs" AS j
SET "locked_until" = greatest((extract(epoch FROM clock_timestamp()) * 1000000)::bigint + $1::bigint, j."locked_until" + 1)
WHERE j."id" = ANY (ARRAY (
  SELECT x.id
  FROM unnest($2, $3::bigint[], $4::bigint[]) AS u(id, token, attempt)
  CROSS JOIN LATERAL (
    SELECT c."id" AS id
    FROM "jobs" AS c
    WHERE c."id" = u.id AND c."locked_until" = u.token AND c."attempt" = u.attempt
    FOR NO KEY UPDATE SKIP LOCKED) AS x))
RETURNING j."id", j."locked_until";
