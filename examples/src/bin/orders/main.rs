//! Orders: a long-running service that works on a queue beside a web server of its own.
//!
//! The web server takes orders and tells how far they are; the queue's handler confirms them. Both
//! stop together: first no request is taken any more, then the handlers end.
//!
//! `orders-producer` writes orders from another process.

mod confirm;
mod web;

use std::env;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use confirm::confirm;
use queue_table::prelude::*;
use sqlx::postgres::PgPoolOptions;
use sqlx::{PgPool, Postgres};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

/// Every error here is for the person at the terminal, so its text is all that matters.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            web::say(&format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<()> {
    let url = env::var("DATABASE_URL").map_err(|_| "set DATABASE_URL=postgres://..")?;
    let address: SocketAddr = env::var("LISTEN").as_deref().unwrap_or("127.0.0.1:3000").parse()?;
    // Before anything starts: a signal from now on ends the service in order.
    let mut terminate = signal(SignalKind::terminate())?;

    let pool = PgPoolOptions::new().max_connections(8).connect(&url).await?;
    sqlx::raw_sql(include_str!("schema.sql")).execute(&pool).await?;

    let mut running = service(&url, &pool).start().await?;
    let listener = TcpListener::bind(address).await?;
    web::say(&format!("listening on http://{}", listener.local_addr()?));
    let stop = CancellationToken::new();
    let server = axum::serve(listener, web::routes(pool.clone()))
        .with_graceful_shutdown(stop.clone().cancelled_owned());
    let server = tokio::spawn(server.into_future());

    let ended = tokio::select! {
        // Only if something is wrong: somebody dropped the table, for example.
        ended = running.stopped() => ended,
        _ = terminate.recv() => Ok(()),
        _ = tokio::signal::ctrl_c() => Ok(()),
    };
    stop.cancel();
    server.await??;
    running.shutdown().await?;
    pool.close().await;
    Ok(ended?)
}

/// The queue's part. It has connections of its own, so that requests never wait for handlers.
fn service(url: &str, pool: &PgPool) -> Service {
    let broker = SqlxBroker::<Postgres>::from_url(url).connection_limit(2);
    Service::new("orders")
        .state(pool.clone())
        .drain_timeout(Duration::from_secs(10))
        .with_broker(broker, |b| b.mount(confirm))
}
