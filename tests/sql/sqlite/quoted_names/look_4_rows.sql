-- now, 4 x (ordinal, id, token, stored count)
SELECT u.n,
  CASE WHEN j."select" IS NULL THEN 0 WHEN j."say ""when""" = u.token AND j."Attempt" = u.attempt THEN 1 ELSE 2 END,
  CASE WHEN ? < u.token THEN 1 ELSE 0 END,
  j."say ""when"""
FROM (WITH u (n, id, token, attempt) AS (VALUES (?, ?, ?, ?), (?, ?, ?, ?), (?, ?, ?, ?), (?, ?, ?, ?)) SELECT * FROM u) AS u
LEFT JOIN "my ""queue"""."order" AS j ON j."select" = u.id;
