-- $1 id of each row: bigint[], $2 token of each row: bigint[], $3 stored count of each row: bigint[]
SELECT u.n - 1,
  CASE WHEN c."token" IS NULL THEN 0 WHEN c."reason" = u.token AND c."due" = u.attempt THEN 1 ELSE 2 END::bigint,
  CASE WHEN (extract(epoch FROM statement_timestamp()) * 1000000)::bigint < u.token THEN 1 ELSE 0 END::bigint,
  c."reason"
FROM unnest($1, $2::bigint[], $3::bigint[]) WITH ORDINALITY AS u(id, token, attempt, n)
LEFT JOIN LATERAL (
  SELECT r."token", r."reason", r."due"
  FROM "u" AS r
  WHERE r."token" = u.id
  LIMIT 1) AS c ON true;
