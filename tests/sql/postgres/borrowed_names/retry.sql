-- $1 reason or null of each row: text[], $2 id of each row: bigint[], $3 token of each row: bigint[], $4 stored count of each row: bigint[]
UPDATE "u" AS j
SET "reason" = NULL,
  "n" = coalesce(($1::text[])[array_position($2, j."token")], j."n")
WHERE j."token" = ANY (ARRAY (
  SELECT x.id
  FROM unnest($2, $3::bigint[], $4::bigint[]) AS u(id, token, attempt)
  CROSS JOIN LATERAL (
    SELECT c."token" AS id
    FROM "u" AS c
    WHERE c."token" = u.id AND c."reason" = u.token AND c."due" = u.attempt
    FOR NO KEY UPDATE SKIP LOCKED) AS x))
RETURNING j."token";
