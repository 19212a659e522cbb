CREATE TABLE jobs (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    retry_after TEXT NOT NULL DEFAULT '',
    locked_until TEXT,
    payload TEXT NOT NULL
);

CREATE INDEX jobs_ready ON jobs (kind, retry_after, id);
