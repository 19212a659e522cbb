-- $1 shift of the clock in microseconds: bigint, $2 id of each row: bigint[], $3 token of each row: timestamptz[], $4 stored count of each row: bigint[]
SELECT u.n - 1,
  CASE WHEN c."id" IS NULL OR c."processed_at" IS NOT NULL THEN 0 WHEN c."locked_until" = u.token AND c."attempt" = u.attempt THEN 1 ELSE 2 END::bigint,
  CASE WHEN (statement_timestamp() + $1::bigint * interval '1 microsecond') < u.token THEN 1 ELSE 0 END::bigint,
  c."locked_until"
FROM unnest($2, $3::timestamptz[], $4::bigint[]) WITH ORDINALITY AS u(id, token, attempt, n)
LEFT JOIN LATERAL (
  SELECT r."id", r."locked_until", r."attempt", r."processed_at"
  FROM "jobs" AS r
  WHERE r."id" = u.id
  LIMIT 1) AS c ON true;
