-- $1 id of each row: text[], $2 token of each row: bigint[]
WITH moved AS (
  DELETE FROM "jobs" AS j
  WHERE j."id" = ANY (ARRAY (
  SELECT x.id
  FROM unnest($1, $2::bigint[]) AS u(id, token)
  CROSS JOIN LATERAL (
    SELECT c."id" AS id
    FROM "jobs" AS c
    WHERE c."id" = u.id AND c."locked_until" = u.token
    FOR UPDATE SKIP LOCKED) AS x))
  RETURNING j."id", j."note"),
kept AS (
  INSERT INTO "dead_jobs" ("id", "locked_until", "note")
  OVERRIDING SYSTEM VALUE
  SELECT m."id", NULL, m."note"
  FROM moved AS m
  RETURNING 1),
counted AS (
  SELECT (SELECT count(*) FROM moved) AS moved, (SELECT count(*) FROM kept) AS kept)
SELECT m."id"
FROM moved AS m
CROSS JOIN counted AS n
WHERE CASE WHEN n.kept = n.moved THEN true
  ELSE concat('the table of the dead letters took ', n.kept, ' of ', n.moved, ' rows')::boolean END;
