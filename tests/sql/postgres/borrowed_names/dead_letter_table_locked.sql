-- $1 id of each row: bigint[], $2 reason or null of each row: text[]
WITH moved AS (
  DELETE FROM "u" AS j
  WHERE j."token" = ANY ($1)
  RETURNING j."token", j."id", j."n", j."next", j."payload"),
kept AS (
  INSERT INTO "moved" ("token", "id", "due", "attempt", "reason", "n", "next", "payload")
  OVERRIDING SYSTEM VALUE
  SELECT m."token", m."id", 1, NULL, NULL, coalesce(($2::text[])[array_position($1, m."token")], m."n"), m."next", m."payload"
  FROM moved AS m
  RETURNING 1),
counted AS (
  SELECT (SELECT count(*) FROM moved) AS moved, (SELECT count(*) FROM kept) AS kept)
SELECT m."token"
FROM moved AS m
CROSS JOIN counted AS n
WHERE CASE WHEN n.kept = n.moved THEN true
  ELSE concat('the table of the dead letters took ', n.kept, ' of ', n.moved, ' rows')::boolean END;
