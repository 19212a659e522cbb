-- $1 id of each row: bigint[], $2 token of each row: bigint[], $3 stored count of each row: bigint[], $4 reason or null of each row: text[]
WITH moved AS (
  DELETE FROM "u" AS j
  WHERE j."token" = ANY (ARRAY (
  SELECT x.id
  FROM unnest($1, $2::bigint[], $3::bigint[]) AS u(id, token, attempt)
  CROSS JOIN LATERAL (
    SELECT c."token" AS id
    FROM "u" AS c
    WHERE c."token" = u.id AND c."reason" = u.token AND c."due" = u.attempt
    FOR UPDATE SKIP LOCKED) AS x))
  RETURNING j."token", j."id", j."n", j."next", j."payload"),
kept AS (
  INSERT INTO "moved" ("token", "id", "due", "attempt", "reason", "n", "next", "payload")
  OVERRIDING SYSTEM VALUE
  SELECT m."token", m."id", 1, NULL, NULL, coalesce(($4::text[])[array_position($1, m."token")], m."n"), m."next", m."payload"
  FROM moved AS m
  RETURNING 1),
counted AS (
  SELECT (SELECT count(*) FROM moved) AS moved, (SELECT count(*) FROM kept) AS kept)
SELECT m."token"
FROM moved AS m
CROSS JOIN counted AS n
WHERE CASE WHEN n.kept = n.moved THEN true
  ELSE concat('the table of the dead letters took ', n.kept, ' of ', n.moved, ' rows')::boolean END;
