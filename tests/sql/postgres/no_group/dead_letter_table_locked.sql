-- $1 id of each row: bigint[]
WITH moved AS (
  DELETE FROM "jobs" AS j
  WHERE j."id" = ANY ($1)
  RETURNING j."id", j."payload"),
kept AS (
  INSERT INTO "dead_jobs" ("id", "attempt", "retry_after", "locked_until", "payload")
  OVERRIDING SYSTEM VALUE
  SELECT m."id", 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, NULL, m."payload"
  FROM moved AS m
  RETURNING 1),
counted AS (
  SELECT (SELECT count(*) FROM moved) AS moved, (SELECT count(*) FROM kept) AS kept)
SELECT m."id"
FROM moved AS m
CROSS JOIN counted AS n
WHERE CASE WHEN n.kept = n.moved THEN true
  ELSE concat('the table of the dead letters took ', n.kept, ' of ', n.moved, ' rows')::boolean END;
