//! The web server: takes orders, and tells how far they are.

use std::io::Write;

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use queue_table::QueueTable;
use serde::{Deserialize, Serialize};
use sqlx::PgPool;

use crate::confirm::OrderJob;

#[derive(Deserialize)]
struct Order {
    customer: String,
    cents: i64,
}

#[derive(Serialize)]
struct Taken {
    order: i64,
}

#[derive(Serialize, sqlx::FromRow)]
struct Counts {
    orders: i64,
    confirmed: i64,
}

pub(crate) fn routes(pool: PgPool) -> Router {
    Router::new().route("/orders", post(take)).route("/", get(counts)).with_state(pool)
}

/// Writes an order and the row that confirms it, or neither.
async fn take(
    State(pool): State<PgPool>,
    Json(order): Json<Order>,
) -> Result<(StatusCode, Json<Taken>), Failed> {
    let mut transaction = pool.begin().await?;
    let id: i64 =
        sqlx::query_scalar("INSERT INTO orders (customer, cents) VALUES ($1, $2) RETURNING id")
            .bind(order.customer)
            .bind(order.cents)
            .fetch_one(&mut *transaction)
            .await?;
    let job = OrderJob::row().group("confirm").set(OrderJob::ORDER_ID, id);
    let job = job.insert(&mut *transaction).await.map_err(Failed::of)?;
    transaction.commit().await?;
    // This process need not wait for its poll; after the commit, or it would find nothing.
    job.wake();
    Ok((StatusCode::ACCEPTED, Json(Taken { order: id })))
}

async fn counts(State(pool): State<PgPool>) -> Result<Json<Counts>, Failed> {
    let counts =
        sqlx::query_as("SELECT count(*) AS orders, count(confirmed_at) AS confirmed FROM orders");
    Ok(Json(counts.fetch_one(&pool).await?))
}

/// What a client is told when the database does not answer.
struct Failed;

impl Failed {
    fn of(error: impl std::fmt::Display) -> Self {
        say(&format!("request failed: {error}"));
        Self
    }
}

impl From<sqlx::Error> for Failed {
    fn from(error: sqlx::Error) -> Self {
        Self::of(error)
    }
}

impl axum::response::IntoResponse for Failed {
    fn into_response(self) -> axum::response::Response {
        (StatusCode::SERVICE_UNAVAILABLE, "try again later\n").into_response()
    }
}

/// Says something to whoever started the program. A terminal that is gone is no error.
pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
