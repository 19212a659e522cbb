-- $1 id of each row: bigint[], $2 token of each row: timestamptz[]
SELECT u.n - 1,
  CASE WHEN c."id" IS NULL THEN 0 WHEN c."locked_until" = u.token THEN 1 ELSE 2 END::bigint,
  CASE WHEN statement_timestamp() < u.token THEN 1 ELSE 0 END::bigint,
  c."locked_until"
FROM unnest($1, $2::timestamptz[]) WITH ORDINALITY AS u(id, token, n)
LEFT JOIN LATERAL (
  SELECT r."id", r."locked_until"
  FROM "jobs" AS r
  WHERE r."id" = u.id
  LIMIT 1) AS c ON true;
