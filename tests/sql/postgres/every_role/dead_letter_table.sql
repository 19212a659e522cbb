-- $1 id of each row: bigint[], $2 token of each row: timestamptz[], $3 stored count of each row: bigint[], $4 reason or null of each row: text[]
WITH moved AS (
  DELETE FROM "jobs" AS j
  WHERE j."id" = ANY (ARRAY (
  SELECT x.id
  FROM unnest($1, $2::timestamptz[], $3::bigint[]) AS u(id, token, attempt)
  CROSS JOIN LATERAL (
    SELECT c."id" AS id
    FROM "jobs" AS c
    WHERE c."id" = u.id AND c."locked_until" = u.token AND c."attempt" = u.attempt
    FOR UPDATE SKIP LOCKED) AS x))
  RETURNING j."id", j."kind", j."last_error", j."payload", j."note"),
kept AS (
  INSERT INTO "dead_jobs" ("id", "kind", "attempt", "retry_after", "locked_until", "processed_at", "last_error", "payload", "note")
  OVERRIDING SYSTEM VALUE
  SELECT m."id", m."kind", 1, NULL, NULL, NULL, coalesce(($4::text[])[array_position($1, m."id")], m."last_error"), m."payload", m."note"
  FROM moved AS m
  RETURNING 1),
counted AS (
  SELECT (SELECT count(*) FROM moved) AS moved, (SELECT count(*) FROM kept) AS kept)
SELECT m."id"
FROM moved AS m
CROSS JOIN counted AS n
WHERE CASE WHEN n.kept = n.moved THEN true
  ELSE concat('the table of the dead letters took ', n.kept, ' of ', n.moved, ' rows')::boolean END;
