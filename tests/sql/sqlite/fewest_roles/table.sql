-- The primary key is the order of the claims.
CREATE TABLE jobs (
    id TEXT PRIMARY KEY,
    locked_until INTEGER,
    note TEXT NOT NULL
);
