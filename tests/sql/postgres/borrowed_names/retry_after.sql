-- $1 delay in microseconds of each row: bigint[], $2 id of each row: bigint[], $3 reason or null of each row: text[], $4 token of each row: bigint[], $5 stored count of each row: bigint[]
UPDATE "u" AS j
SET "reason" = NULL,
  "attempt" = (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + ($1::bigint[])[array_position($2, j."token")],
  "n" = coalesce(($3::text[])[array_position($2, j."token")], j."n")
WHERE j."token" = ANY (ARRAY (
  SELECT x.id
  FROM unnest($2, $4::bigint[], $5::bigint[]) AS u(id, token, attempt)
  CROSS JOIN LATERAL (
    SELECT c."token" AS id
    FROM "u" AS c
    WHERE c."token" = u.id AND c."reason" = u.token AND c."due" = u.attempt
    FOR NO KEY UPDATE SKIP LOCKED) AS x))
RETURNING j."token";
