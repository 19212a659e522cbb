-- $1 id of each row: bigint[], $2 token of each row: timestamptz[], $3 stored count of each row: bigint[], $4 reason or null of each row: text[]
WITH moved AS (
  DELETE FROM "my ""queue"""."order" AS j
  WHERE j."select" = ANY (ARRAY (
  SELECT x.id
  FROM unnest($1, $2::timestamptz[], $3::bigint[]) AS u(id, token, attempt)
  CROSS JOIN LATERAL (
    SELECT c."select" AS id
    FROM "my ""queue"""."order" AS c
    WHERE c."select" = u.id AND c."say ""when""" = u.token AND c."Attempt" = u.attempt
    FOR UPDATE SKIP LOCKED) AS x))
  RETURNING j."select", j."group", j."it's", j."a::b", j."from"),
kept AS (
  INSERT INTO "it's"."dead :order" ("select", "group", "Attempt", "not :before", "say ""when""", "it's", "a::b", "from")
  OVERRIDING SYSTEM VALUE
  SELECT m."select", m."group", 1, NULL, NULL, coalesce(($4::text[])[array_position($1, m."select")], m."it's"), m."a::b", m."from"
  FROM moved AS m
  RETURNING 1),
counted AS (
  SELECT (SELECT count(*) FROM moved) AS moved, (SELECT count(*) FROM kept) AS kept)
SELECT m."select"
FROM moved AS m
CROSS JOIN counted AS n
WHERE CASE WHEN n.kept = n.moved THEN true
  ELSE concat('the table of the dead letters took ', n.kept, ' of ', n.moved, ' rows')::boolean END;
