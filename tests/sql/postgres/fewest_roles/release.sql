-- $1 id of each row: text[], $2 token of each row: bigint[]
UPDATE "jobs" AS j
SET "locked_until" = (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
WHERE j."id" = ANY (ARRAY (
  SELECT x.id
  FROM unnest($1, $2::bigint[]) AS u(id, token)
  CROSS JOIN LATERAL (
    SELECT c."id" AS id
    FROM "jobs" AS c
    WHERE c."id" = u.id AND c."locked_until" = u.token
    FOR NO KEY UPDATE SKIP LOCKED) AS x))
RETURNING j."id";
