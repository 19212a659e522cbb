//! What a subscription sends while there is nothing to do; only PostgreSQL's triggers can count it.

use std::time::{Duration, Instant};

use queue_table::prelude::*;
use queue_table_tests::conformance;
use queue_table_tests::database::TestDb;
use queue_table_tests::eventually::eventually;
use queue_table_tests::queue::{Script, create_tables, own_group, scripted};

use super::Database;

conformance![
    Database:
    an_idle_subscription_sends_one_claim_a_poll_however_many_workers,
];

/// Counts statements that change `jobs`, also those that change no row.
const COUNTED: &str = "
    CREATE TABLE statements (n integer);
    CREATE FUNCTION count_statement() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN INSERT INTO statements VALUES (1); RETURN NULL; END $$;
    CREATE TRIGGER counted BEFORE UPDATE OR DELETE ON jobs
        FOR EACH STATEMENT EXECUTE FUNCTION count_statement();";

async fn an_idle_subscription_sends_one_claim_a_poll_however_many_workers(db: TestDb<Database>) {
    create_tables(&db).await;
    db.execute(COUNTED).await;
    let poll = Duration::from_millis(200);
    let broker = SqlxBroker::<Database>::from_url(db.url());
    let script = Script::always(Outcome::ack());
    let service = Service::new("test").state(script).with_broker(broker, |b| {
        b.mount(scripted.group(own_group()).workers(32).poll_interval(poll));
    });
    let running = service.start().await.unwrap();
    let sent = async || db.value::<i64>("SELECT count(*) FROM statements").await;
    let first = eventually("the first claim", async || Some(sent().await).filter(|n| *n > 0)).await;
    let since = Instant::now();
    eventually("six more", async || sent().await >= first + 6).await;
    // Polls are jittered down to three quarters; the first of the six may have been on its way.
    assert!(since.elapsed() > poll * 5 * 3 / 4, "{:?}", since.elapsed());
    running.shutdown().await.unwrap();
}
