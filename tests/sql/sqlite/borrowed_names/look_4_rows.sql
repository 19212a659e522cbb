-- now in microseconds, 4 x (ordinal, id, token, stored count)
SELECT u.n,
  CASE WHEN j."token" IS NULL THEN 0 WHEN j."reason" = u.token AND j."due" = u.attempt THEN 1 ELSE 2 END,
  CASE WHEN ? < u.token THEN 1 ELSE 0 END,
  j."reason"
FROM (WITH u (n, id, token, attempt) AS (VALUES (?, ?, ?, ?), (?, ?, ?, ?), (?, ?, ?, ?), (?, ?, ?, ?)) SELECT * FROM u) AS u
LEFT JOIN "u" AS j ON j."token" = u.id;
