//! What the sweep would see: a future that is known to leave a transaction open.

use queue_table_tests::conformance;
use queue_table_tests::database::TestDb;
use queue_table_tests::eventually::eventually;
use sqlx::Postgres;
use sqlx::postgres::PgPoolOptions;

use crate::point::{at_every_point, drop_at};

conformance![Postgres: a_begin_of_sqlx_that_leaves_its_transaction_open_is_seen];

/// transact-rs/sqlx#4393. Once sqlx has mended it this fails, and a transaction left open by hand
/// does as well for a control.
async fn a_begin_of_sqlx_that_leaves_its_transaction_open_is_seen(db: TestDb<Postgres>) {
    let pool = PgPoolOptions::new().max_connections(1).connect(db.url()).await.unwrap();
    // Whether the answer is there at the moment of the drop is a matter of luck.
    eventually("a transaction is left open", async || {
        let mut seen = false;
        at_every_point(async |point| {
            let ready = drop_at(pool.begin(), point).await.is_some();
            // Waits for the connection, so that whatever the drop did to it is done.
            sqlx::query("SELECT 1").execute(&pool).await.unwrap();
            let left = "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction' \
                 AND application_name = current_setting('application_name')";
            let left: i64 = db.value(left).await;
            seen |= left > 0;
            ready
        })
        .await;
        seen
    })
    .await;
    pool.close().await;
    eventually("only the test's own sessions are left", async || {
        let sessions = "SELECT count(*) FROM pg_stat_activity \
             WHERE application_name = current_setting('application_name')";
        db.value::<i64>(sessions).await == i64::from(db.pool().size())
    })
    .await;
}
