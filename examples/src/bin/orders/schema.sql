-- The service's own data.
CREATE TABLE IF NOT EXISTS orders (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    customer     text NOT NULL,
    cents        bigint NOT NULL,
    confirmed_at timestamptz
);

-- Its queue: a row is an order to be confirmed, and is written with the order.
CREATE TABLE IF NOT EXISTS order_jobs (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind         text NOT NULL,
    attempt      integer NOT NULL DEFAULT 1,
    retry_after  timestamptz,
    locked_until timestamptz,
    last_error   text,
    order_id     bigint NOT NULL REFERENCES orders
) WITH (fillfactor = 50);

-- In the order in which rows are claimed.
CREATE INDEX IF NOT EXISTS order_jobs_ready
    ON order_jobs (kind, coalesce(retry_after, '-infinity'), id);
