CREATE TABLE moved (
    token INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    due INTEGER NOT NULL DEFAULT 1,
    attempt INTEGER,
    reason INTEGER,
    n TEXT,
    next TEXT NOT NULL,
    payload TEXT NOT NULL
);
