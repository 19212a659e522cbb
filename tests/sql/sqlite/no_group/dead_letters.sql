CREATE TABLE dead_jobs (
    id INTEGER PRIMARY KEY,
    attempt INTEGER NOT NULL DEFAULT 1,
    retry_after INTEGER NOT NULL,
    locked_until INTEGER,
    payload TEXT NOT NULL
);
