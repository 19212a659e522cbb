//! Leases that run out before a worker has their rows.

use std::time::Duration;

use queue_table::prelude::*;
use queue_table_tests::conformance;
use queue_table_tests::database::TestDb;
use queue_table_tests::eventually::eventually;
use queue_table_tests::queue::{Script, create_tables, scripted};
use sqlx::Postgres;

use crate::gate::left;
use crate::locked::publish;

conformance![Postgres: a_subscription_goes_on_although_leases_run_out_before_a_worker_is_there];

const LEASE: Duration = Duration::from_millis(100);

/// Three claims take longer than their leases, as where a process or its server stands still.
const SLOWLY: &str = "CREATE SEQUENCE claims; \
     CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS \
     'BEGIN IF nextval(''claims'') <= 3 THEN PERFORM pg_sleep(0.15); END IF; RETURN NEW; END'; \
     CREATE TRIGGER slowly BEFORE UPDATE ON jobs \
     FOR EACH ROW WHEN (NEW.id = 1 AND OLD.attempt < NEW.attempt) EXECUTE FUNCTION slowly()";

async fn a_subscription_goes_on_although_leases_run_out_before_a_worker_is_there(
    db: TestDb<Postgres>,
) {
    create_tables(&db).await;
    db.execute(SLOWLY).await;
    publish(&db, 8).await;
    let script = Script::always(Outcome::ack());
    let broker = SqlxBroker::<Postgres>::from_url(db.url());
    let service = Service::new("expired").state(script).with_broker(broker, |b| {
        b.mount(scripted.lease(LEASE).workers(8));
    });
    let running = service.start().await.unwrap();
    eventually("a claim is in time, and its rows are worked off", async || left(&db).await == 0)
        .await;
    running.shutdown().await.unwrap();
    assert!(db.value::<i64>("SELECT last_value FROM claims").await > 3, "a claim was in time");
}
