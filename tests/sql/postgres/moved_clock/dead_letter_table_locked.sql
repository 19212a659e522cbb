-- $1 id of each row: bigint[], $2 reason or null of each row: text[]
WITH moved AS (
  DELETE FROM "jobs" AS j
  WHERE j."id" = ANY ($1)
  RETURNING j."id", j."kind", j."last_error", j."payload", j."note"),
kept AS (
  INSERT INTO "dead_jobs" ("id", "kind", "attempt", "retry_after", "locked_until", "processed_at", "last_error", "payload", "note")
  OVERRIDING SYSTEM VALUE
  SELECT m."id", m."kind", 1, NULL, NULL, NULL, coalesce(($2::text[])[array_position($1, m."id")], m."last_error"), m."payload", m."note"
  FROM moved AS m
  RETURNING 1),
counted AS (
  SELECT (SELECT count(*) FROM moved) AS moved, (SELECT count(*) FROM kept) AS kept)
SELECT m."id"
FROM moved AS m
CROSS JOIN counted AS n
WHERE CASE WHEN n.kept = n.moved THEN true
  ELSE concat('the table of the dead letters took ', n.kept, ' of ', n.moved, ' rows')::boolean END;
