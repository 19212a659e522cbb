CREATE TABLE jobs (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    attempt INTEGER NOT NULL DEFAULT 1,
    due INTEGER NOT NULL DEFAULT 0,
    locked_until INTEGER,
    done INTEGER,
    note TEXT NOT NULL
);

CREATE INDEX jobs_ready ON jobs (kind, due, id) WHERE done IS NULL;
