//! What a crate of edition 2021 declares works.

use std::error::Error;
use std::time::Duration;

use queue_table::prelude::*;
use queue_table_edition_2021::{look, send, Email, Job};
use sqlx::sqlite::SqlitePoolOptions;
use sqlx::{Postgres, Sqlite};
use tokio::sync::mpsc::{unbounded_channel, UnboundedReceiver};

const TABLE: &str = "CREATE TABLE jobs (
    id integer PRIMARY KEY, kind text NOT NULL, attempt integer NOT NULL DEFAULT 1,
    retry_after text, locked_until text, processed_at text, last_error text, payload blob NOT NULL,
    account_id integer)";

async fn next(said: &mut UnboundedReceiver<String>) -> Result<String, Box<dyn Error>> {
    let next = tokio::time::timeout(Duration::from_secs(30), said.recv()).await?;
    Ok(next.ok_or("nobody says more")?)
}

#[tokio::test]
async fn its_rows_are_worked_on() -> Result<(), Box<dyn Error>> {
    // A database in memory is that of one connection.
    let options = SqlitePoolOptions::new().max_connections(1).idle_timeout(None).max_lifetime(None);
    let pool = options.connect("sqlite::memory:").await?;
    sqlx::query(TABLE).execute(&pool).await?;
    let email = Email { to: "you".to_owned() };
    Job::message(&email).group("send").insert(&pool).await?;
    let (log, mut said) = unbounded_channel();
    let service = Service::new("edition-2021").state(log);
    let service = service
        .with_broker(SqlxBroker::<Sqlite, _>::new(pool.clone()), |b| {
            b.mount(send.workers(2));
            b.mount(look);
        })
        .start()
        .await?;
    assert_eq!(next(&mut said).await?, "sent to you in attempt 1, lost: false");
    assert_eq!(next(&mut said).await?, "sent to you in attempt 2, lost: false");
    let looked = Job::message(&email).group("look").set(Job::ACCOUNT_ID, Some(7));
    looked.insert(&pool).await?.wake();
    assert_eq!(next(&mut said).await?, "looked at Some(7)");
    service.shutdown().await?;
    let done = "SELECT count(*) FROM jobs WHERE processed_at IS NOT NULL";
    assert_eq!(sqlx::query_scalar::<_, i64>(done).fetch_one(&pool).await?, 2);
    Ok(())
}

#[tokio::test]
async fn its_subscribers_are_called_and_mounted_anywhere() {
    let (log, _said) = unbounded_channel();
    let email = Email { to: "you".to_owned() };
    let sent = send(State(log), &email, Ctx(2), CancellationToken::new()).await;
    assert_eq!(sent, Ok(()));
    let broker = SqlxBroker::<Postgres>::from_url("postgres://localhost");
    let _ = Service::new("edition-2021").with_broker(broker, |b| {
        b.mount(send);
        b.mount(look.workers(2));
    });
}
