//! Writes orders for `orders` from another process, each with the row that confirms it, in one
//! transaction of its own.
//!
//! It does not know queue-table: a row of a queue is a row, and plain SQL writes it.

use std::env;
use std::io::Write;
use std::process::ExitCode;

use sqlx::{Connection, PgConnection};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(text) => {
            let _ = writeln!(std::io::stdout(), "{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<String> {
    let url = env::var("DATABASE_URL").map_err(|_| "set DATABASE_URL=postgres://..")?;
    let orders = match env::args().nth(1) {
        Some(number) => number.parse().map_err(|_| format!("`{number}` is no number of orders"))?,
        None => 10,
    };
    let mut connection = PgConnection::connect(&url).await?;
    for order in 1..=orders {
        let mut transaction = connection.begin().await?;
        let id: i64 =
            sqlx::query_scalar("INSERT INTO orders (customer, cents) VALUES ($1, $2) RETURNING id")
                .bind(format!("customer {order}"))
                .bind(100_i64 * order)
                .fetch_one(&mut *transaction)
                .await?;
        sqlx::query("INSERT INTO order_jobs (kind, order_id) VALUES ('confirm', $1)")
            .bind(id)
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await?;
    }
    connection.close().await?;
    Ok(format!("{orders} orders are written"))
}
