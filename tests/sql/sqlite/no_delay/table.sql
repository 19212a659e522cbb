CREATE TABLE jobs (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    attempt INTEGER NOT NULL DEFAULT 1,
    locked_until TEXT,
    last_error TEXT,
    payload BLOB NOT NULL
);

CREATE INDEX jobs_ready ON jobs (kind, id);
