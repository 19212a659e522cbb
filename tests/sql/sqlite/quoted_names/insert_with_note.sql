-- group, now plus the delay, payload, data column 0
INSERT INTO "my ""queue"""."order" ("group", "Attempt", "not :before", "a::b", "from")
VALUES (?, 1, ?, ?, ?)
RETURNING "select";
