-- $1 delay in microseconds of each row: bigint[], $2 id of each row: bigint[], $3 reason or null of each row: text[], $4 token of each row: timestamptz[], $5 stored count of each row: bigint[]
UPDATE "my ""queue"""."order" AS j
SET "say ""when""" = NULL,
  "not :before" = clock_timestamp() + ($1::bigint[])[array_position($2, j."select")] * interval '1 microsecond',
  "it's" = coalesce(($3::text[])[array_position($2, j."select")], j."it's")
WHERE j."select" = ANY (ARRAY (
  SELECT x.id
  FROM unnest($2, $4::timestamptz[], $5::bigint[]) AS u(id, token, attempt)
  CROSS JOIN LATERAL (
    SELECT c."select" AS id
    FROM "my ""queue"""."order" AS c
    WHERE c."select" = u.id AND c."say ""when""" = u.token AND c."Attempt" = u.attempt
    FOR NO KEY UPDATE SKIP LOCKED) AS x))
RETURNING j."select";
