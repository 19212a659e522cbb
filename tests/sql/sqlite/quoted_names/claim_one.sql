-- now plus the lease, id, group, now, now
UPDATE "my ""queue"""."order" AS j
SET "say ""when""" = ?,
  "Attempt" = CASE WHEN j."Attempt" < 2147483647 THEN j."Attempt" + 1 ELSE j."Attempt" END
WHERE j."select" IN (
  SELECT c."select"
  FROM "my ""queue"""."order" AS c
  WHERE c."select" = ?
    AND c."group" = ?
    AND coalesce(c."not :before", '') <= ?
    AND (c."say ""when""" IS NULL OR c."say ""when""" <= ?))
RETURNING "select", "group", "Attempt" - 1 AS "Attempt", "not :before", "say ""when""", "it's", "a::b", "from";
