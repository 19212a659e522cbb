//! Signals: the first lets handlers end, the second does not wait for them.

use std::time::Duration;

use queue_table_tests::conformance;
use queue_table_tests::database::{Db, TestDb};
use queue_table_tests::eventually::{eventually, stays};
use queue_table_tests::queue::create_tables;
use tokio::process::{Child, Command};

use super::process::fill;

conformance![the_first_signal_drains_and_the_second_aborts];

/// A service whose handlers never come to an end.
pub(crate) fn service<DB: Db>(url: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_signal-worker"));
    command.args([DB::KIND.name(), url]).kill_on_drop(true).spawn().unwrap()
}

pub(crate) async fn signal(service: &Child, name: &str) {
    let id = service.id().unwrap().to_string();
    assert!(Command::new("kill").args([name, &id]).status().await.unwrap().success());
}

async fn leased<DB: Db>(db: &TestDb<DB>) -> i64 {
    let now = DB::now_plus(0);
    db.value(format!("SELECT count(*) FROM jobs WHERE locked_until > {now}")).await
}

async fn the_first_signal_drains_and_the_second_aborts<DB: Db>(db: TestDb<DB>) {
    create_tables(&db).await;
    fill(&db, 1).await;
    let mut service = service::<DB>(db.url());
    eventually("the row is in work", async || leased(&db).await == 1).await;
    signal(&service, "-TERM").await;
    // It polls every 50 ms; after the signal a new row stays where it is.
    let more =
        "INSERT INTO jobs (id, kind, payload) SELECT 2, kind, payload FROM jobs WHERE id = 1";
    eventually("no row is claimed any more", async || {
        db.execute("DELETE FROM jobs WHERE id = 2").await;
        db.execute(more).await;
        let deadline = std::time::Instant::now() + Duration::from_millis(200);
        while std::time::Instant::now() < deadline {
            if leased(&db).await > 1 {
                return false;
            }
        }
        true
    })
    .await;
    stays("its handler goes on", Duration::from_millis(300), async || leased(&db).await == 1).await;
    signal(&service, "-INT").await;
    let status = service.wait().await.unwrap();
    assert!(status.success(), "{status}");
    assert_eq!(leased(&db).await, 0, "the row is given back");
    let counts: Vec<(i64, i64)> = db.rows("SELECT id, attempt FROM jobs ORDER BY id").await;
    assert_eq!(counts, [(1, 1), (2, 1)], "with the count that it had");
}
