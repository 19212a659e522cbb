-- $1 id of each row: bigint[], $2 token of each row: timestamptz[], $3 stored count of each row: bigint[]
UPDATE "my ""queue"""."order" AS j
SET "say ""when""" = clock_timestamp()
WHERE j."select" = ANY (ARRAY (
  SELECT x.id
  FROM unnest($1, $2::timestamptz[], $3::bigint[]) AS u(id, token, attempt)
  CROSS JOIN LATERAL (
    SELECT c."select" AS id
    FROM "my ""queue"""."order" AS c
    WHERE c."select" = u.id AND c."say ""when""" = u.token AND c."Attempt" = u.attempt
    FOR NO KEY UPDATE SKIP LOCKED) AS x))
RETURNING j."select";
