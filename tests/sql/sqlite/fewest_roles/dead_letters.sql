CREATE TABLE dead_jobs (
    id TEXT PRIMARY KEY,
    locked_until INTEGER,
    note TEXT NOT NULL
);
