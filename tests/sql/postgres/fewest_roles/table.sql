-- The primary key is the order of the claims.
CREATE TABLE jobs (
    id text PRIMARY KEY,
    locked_until bigint,
    note text NOT NULL
) WITH (fillfactor = 50);
