-- $1 group of the dead letters: text, $2 reason or null of each row: text[], $3 id of each row: bigint[], $4 token of each row: timestamptz[], $5 stored count of each row: bigint[]
UPDATE "my ""queue"""."order" AS j
SET "say ""when""" = NULL,
  "group" = $1,
  "Attempt" = 1,
  "not :before" = NULL,
  "it's" = coalesce(($2::text[])[array_position($3, j."select")], j."it's")
WHERE j."select" = ANY (ARRAY (
  SELECT x.id
  FROM unnest($3, $4::timestamptz[], $5::bigint[]) AS u(id, token, attempt)
  CROSS JOIN LATERAL (
    SELECT c."select" AS id
    FROM "my ""queue"""."order" AS c
    WHERE c."select" = u.id AND c."say ""when""" = u.token AND c."Attempt" = u.attempt
    FOR NO KEY UPDATE SKIP LOCKED) AS x))
RETURNING j."select";
