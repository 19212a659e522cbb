-- $1 id of each row: bigint[], $2 token of each row: timestamptz[]
UPDATE "jobs" AS j
SET "locked_until" = clock_timestamp()
WHERE j."id" = ANY (ARRAY (
  SELECT x.id
  FROM unnest($1, $2::timestamptz[]) AS u(id, token)
  CROSS JOIN LATERAL (
    SELECT c."id" AS id
    FROM "jobs" AS c
    WHERE c."id" = u.id AND c."locked_until" = u.token
    FOR NO KEY UPDATE SKIP LOCKED) AS x))
RETURNING j."id";
