-- $1 group of the dead letters: text, $2 reason or null of each row: text[], $3 id of each row: bigint[], $4 token of each row: timestamptz[], $5 stored count of each row: bigint[]
UPDATE "jobs" AS j
SET "locked_until" = NULL,
  "kind" = $1,
  "attempt" = 1,
  "retry_after" = NULL,
  "last_error" = coalesce(($2::text[])[array_position($3, j."id")], j."last_error")
WHERE j."id" = ANY (ARRAY (
  SELECT x.id
  FROM unnest($3, $4::timestamptz[], $5::bigint[]) AS u(id, token, attempt)
  CROSS JOIN LATERAL (
    SELECT c."id" AS id
    FROM "jobs" AS c
    WHERE c."id" = u.id AND c."locked_until" = u.token AND c."attempt" = u.attempt
    FOR NO KEY UPDATE SKIP LOCKED) AS x))
RETURNING j."id";
