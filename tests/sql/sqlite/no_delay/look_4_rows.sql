-- now, 4 x (ordinal, id, token, stored count)
SELECT u.n,
  CASE WHEN j."id" IS NULL THEN 0 WHEN j."locked_until" = u.token AND j."attempt" = u.attempt THEN 1 ELSE 2 END,
  CASE WHEN ? < u.token THEN 1 ELSE 0 END,
  j."locked_until"
FROM (WITH u (n, id, token, attempt) AS (VALUES (?, ?, ?, ?), (?, ?, ?, ?), (?, ?, ?, ?), (?, ?, ?, ?)) SELECT * FROM u) AS u
LEFT JOIN "jobs" AS j ON j."id" = u.id;
