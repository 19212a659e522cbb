-- $1 id of each row: bigint[], $2 token of each row: timestamptz[], $3 stored count of each row: bigint[]
UPDATE "jobs" AS j
SET "locked_until" = clock_timestamp()
WHERE j."id" = ANY (ARRAY (
  SELECT x.id
  FROM unnest($1, $2::timestamptz[], $3::bigint[]) AS u(id, token, attempt)
  CROSS JOIN LATERAL (
    SELECT c."id" AS id
    FROM "jobs" AS c
    WHERE c."id" = u.id AND c."locked_until" = u.token AND c."attempt" = u.attempt
    FOR NO KEY UPDATE SKIP LOCKED) AS x))
RETURNING j."id";
