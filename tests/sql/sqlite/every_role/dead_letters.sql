CREATE TABLE dead_jobs (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    attempt INTEGER NOT NULL DEFAULT 1,
    retry_after TEXT,
    locked_until TEXT,
    processed_at TEXT,
    last_error TEXT,
    payload BLOB NOT NULL,
    note TEXT
);
