-- The queue.
CREATE TABLE jobs (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind         text NOT NULL,
    attempt      integer NOT NULL DEFAULT 1,
    retry_after  timestamptz,
    locked_until timestamptz,
    processed_at timestamptz,
    last_error   text,
    payload      bytea NOT NULL,
    event        text
);

-- In the order in which rows are claimed.
CREATE INDEX jobs_ready ON jobs (kind, coalesce(retry_after, '-infinity'), id) WHERE processed_at IS NULL;

-- What the handlers write.
CREATE TABLE earthquakes (
    id          text PRIMARY KEY,
    happened_at timestamptz,
    magnitude   double precision,
    place       text
);

CREATE TABLE alerts (
    earthquake text PRIMARY KEY,
    text       text NOT NULL
);
