-- $1 lease in microseconds: bigint, $2 id of each row: bigint[], $3 token of each row: bigint[], $4 stored count of each row: bigint[]
UPDATE "u" AS j
SET "reason" = greatest((extract(epoch FROM clock_timestamp()) * 1000000)::bigint + $1::bigint, j."reason" + 1)
WHERE j."token" = ANY (ARRAY (
  SELECT x.id
  FROM unnest($2, $3::bigint[], $4::bigint[]) AS u(id, token, attempt)
  CROSS JOIN LATERAL (
    SELECT c."token" AS id
    FROM "u" AS c
    WHERE c."token" = u.id AND c."reason" = u.token AND c."due" = u.attempt
    FOR NO KEY UPDATE SKIP LOCKED) AS x))
RETURNING j."token", j."reason";
