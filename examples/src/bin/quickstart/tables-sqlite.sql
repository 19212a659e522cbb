-- The queue.
CREATE TABLE jobs (
    id           INTEGER PRIMARY KEY,
    kind         TEXT NOT NULL,
    attempt      INTEGER NOT NULL DEFAULT 1,
    retry_after  TEXT,
    locked_until TEXT,
    processed_at TEXT,
    last_error   TEXT,
    payload      BLOB NOT NULL,
    event        TEXT
);

-- In the order in which rows are claimed.
CREATE INDEX jobs_ready ON jobs (kind, coalesce(retry_after, ''), id) WHERE processed_at IS NULL;

-- What the handlers write.
CREATE TABLE earthquakes (
    id          TEXT PRIMARY KEY,
    happened_at TEXT,
    magnitude   REAL,
    place       TEXT
);

CREATE TABLE alerts (
    earthquake TEXT PRIMARY KEY,
    text       TEXT NOT NULL
);
