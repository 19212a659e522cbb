CREATE TABLE dead_jobs (
    id text PRIMARY KEY,
    locked_until bigint,
    note text NOT NULL
);
