-- now plus the lease, group, now, now, 4 x (id), limit
UPDATE "my ""queue"""."order" AS j
SET "say ""when""" = ?,
  "Attempt" = CASE WHEN j."Attempt" < 2147483647 THEN j."Attempt" + 1 ELSE j."Attempt" END
WHERE j."select" IN (
  SELECT c."select"
  FROM "my ""queue"""."order" AS c
  WHERE c."select" IS NOT NULL
    AND c."group" = ?
    AND coalesce(c."not :before", '') <= ?
    AND (c."say ""when""" IS NULL OR c."say ""when""" <= ?)
    AND coalesce(c."not :before", '') > ''
    AND c."select" NOT IN (VALUES (?), (?), (?), (?))
  ORDER BY coalesce(c."not :before", ''), c."select"
  LIMIT ?)
RETURNING "select", "group", "Attempt" - 1 AS "Attempt", "not :before", "say ""when""", "it's", "a::b", "from";
