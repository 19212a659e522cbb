-- $1 reason or null of each row: text[], $2 id of each row: bigint[], $3 token of each row: timestamptz[], $4 stored count of each row: bigint[]
UPDATE "jobs" AS j
SET "locked_until" = NULL,
  "last_error" = coalesce(($1::text[])[array_position($2, j."id")], j."last_error")
WHERE j."id" = ANY (ARRAY (
  SELECT x.id
  FROM unnest($2, $3::timestamptz[], $4::bigint[]) AS u(id, token, attempt)
  CROSS JOIN LATERAL (
    SELECT c."id" AS id
    FROM "jobs" AS c
    WHERE c."id" = u.id AND c."locked_until" = u.token AND c."attempt" = u.attempt
    FOR NO KEY UPDATE SKIP LOCKED) AS x))
RETURNING j."id";
