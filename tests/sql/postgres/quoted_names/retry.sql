-- $1 reason or null of each row: text[], $2 id of each row: bigint[], $3 token of each row: timestamptz[], $4 stored count of each row: bigint[]
UPDATE "my ""queue"""."order" AS j
SET "say ""when""" = NULL,
  "it's" = coalesce(($1::text[])[array_position($2, j."select")], j."it's")
WHERE j."select" = ANY (ARRAY (
  SELECT x.id
  FROM unnest($2, $3::timestamptz[], $4::bigint[]) AS u(id, token, attempt)
  CROSS JOIN LATERAL (
    SELECT c."select" AS id
    FROM "my ""queue"""."order" AS c
    WHERE c."select" = u.id AND c."say ""when""" = u.token AND c."Attempt" = u.attempt
    FOR NO KEY UPDATE SKIP LOCKED) AS x))
RETURNING j."select";
