CREATE TABLE jobs (
    id           INTEGER PRIMARY KEY,
    kind         TEXT NOT NULL,
    attempt      INTEGER NOT NULL DEFAULT 1,
    retry_after  INTEGER,
    locked_until INTEGER,
    payload      TEXT NOT NULL
);

CREATE INDEX jobs_ready ON jobs (kind, coalesce(retry_after, 0), id);
