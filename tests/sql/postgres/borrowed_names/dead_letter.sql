-- $1 group of the dead letters: text, $2 reason or null of each row: text[], $3 id of each row: bigint[], $4 token of each row: bigint[], $5 stored count of each row: bigint[]
UPDATE "u" AS j
SET "reason" = NULL,
  "id" = $1,
  "due" = 1,
  "attempt" = NULL,
  "n" = coalesce(($2::text[])[array_position($3, j."token")], j."n")
WHERE j."token" = ANY (ARRAY (
  SELECT x.id
  FROM unnest($3, $4::bigint[], $5::bigint[]) AS u(id, token, attempt)
  CROSS JOIN LATERAL (
    SELECT c."token" AS id
    FROM "u" AS c
    WHERE c."token" = u.id AND c."reason" = u.token AND c."due" = u.attempt
    FOR NO KEY UPDATE SKIP LOCKED) AS x))
RETURNING j."token";
