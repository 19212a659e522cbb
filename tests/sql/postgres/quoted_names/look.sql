-- $1 id of each row: bigint[], $2 token of each row: timestamptz[], $3 stored count of each row: bigint[]
SELECT u.n - 1,
  CASE WHEN c."select" IS NULL THEN 0 WHEN c."say ""when""" = u.token AND c."Attempt" = u.attempt THEN 1 ELSE 2 END::bigint,
  CASE WHEN statement_timestamp() < u.token THEN 1 ELSE 0 END::bigint,
  c."say ""when"""
FROM unnest($1, $2::timestamptz[], $3::bigint[]) WITH ORDINALITY AS u(id, token, attempt, n)
LEFT JOIN LATERAL (
  SELECT r."select", r."say ""when""", r."Attempt"
  FROM "my ""queue"""."order" AS r
  WHERE r."select" = u.id
  LIMIT 1) AS c ON true;
