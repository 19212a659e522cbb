-- $1 id of each row: bigint[], $2 token of each row: bigint[], $3 stored count of each row: bigint[]
UPDATE "u" AS j
SET "reason" = (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
WHERE j."token" = ANY (ARRAY (
  SELECT x.id
  FROM unnest($1, $2::bigint[], $3::bigint[]) AS u(id, token, attempt)
  CROSS JOIN LATERAL (
    SELECT c."token" AS id
    FROM "u" AS c
    WHERE c."token" = u.id AND c."reason" = u.token AND c."due" = u.attempt
    FOR NO KEY UPDATE SKIP LOCKED) AS x))
RETURNING j."token";
