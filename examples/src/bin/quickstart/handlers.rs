//! The two handlers. A row is delivered at least once, so each does its work in a way that can be
//! done twice.

use std::time::Duration;

use chrono::DateTime;
use queue_table::prelude::*;

use crate::database::{Database, on};
use crate::events::Event;
use crate::tables::Job;

/// Stores every event.
#[subscriber(
    Job,
    group = "store",
    workers = 8,
    max_attempts = 6,
    dead_letter(group = "dead"),
    on_error = later
)]
pub(crate) async fn store(
    event: &Event,
    State(database): State<Database>,
) -> Result<(), sqlx::Error> {
    let happened_at = event.time.and_then(DateTime::from_timestamp_millis);
    on!(&database, pool => {
        sqlx::query(
            "INSERT INTO earthquakes (id, happened_at, magnitude, place) VALUES ($1, $2, $3, $4)
             ON CONFLICT DO NOTHING",
        )
        .bind(&event.id)
        .bind(happened_at)
        .bind(event.mag)
        .bind(&event.place)
        .execute(pool)
        .await?;
    });
    Ok(())
}

/// What becomes of a row whose event could not be stored: most of what goes wrong with a database
/// passes, so it comes back, each time a little later.
fn later(error: &sqlx::Error, meta: &Meta) -> Outcome {
    Outcome::retry_after(longer_each_time(meta.attempt())).because(error)
}

/// Raises an alert for a strong earthquake, through a pager that does not always work.
#[subscriber(Job, group = "alert", workers = 4, max_attempts = 4, dead_letter(group = "dead"))]
pub(crate) async fn alert(
    event: &Event,
    Ctx(attempt): Ctx<keys::Attempt>,
    State(database): State<Database>,
) -> Outcome {
    match Pager::of(event) {
        Pager::SwitchedOff => return Outcome::retry().because("the pager is switched off"),
        Pager::Busy if attempt < 2 => return Outcome::retry().because("the line was busy"),
        Pager::Restarting if attempt < 3 => {
            return Outcome::retry_after(longer_each_time(attempt))
                .because("the pager was restarting");
        }
        _ => {}
    }
    let text = format!(
        "magnitude {}, {}",
        event.mag.unwrap_or_default(),
        event.place.as_deref().unwrap_or("at an unknown place")
    );
    let raised = on!(&database, pool => {
        sqlx::query("INSERT INTO alerts (earthquake, text) VALUES ($1, $2) ON CONFLICT DO NOTHING")
            .bind(&event.id)
            .bind(text)
            .execute(pool)
            .await
            .map(drop)
    });
    match raised {
        Ok(()) => Outcome::ack(),
        Err(error) => Outcome::retry_after(longer_each_time(attempt)).because(error),
    }
}

/// The crate keeps no back-off policy; this is one.
fn longer_each_time(attempt: u32) -> Duration {
    Duration::from_millis(50) * 2_u32.pow(attempt.min(8))
}

/// The failures on purpose. They follow from the event, so that every run is like the last.
enum Pager {
    Works,
    /// A retry at once helps.
    Busy,
    /// A delayed retry helps, or the one after it.
    Restarting,
    /// Nothing helps, and the row becomes a dead letter.
    SwitchedOff,
}

impl Pager {
    fn of(event: &Event) -> Self {
        match event.id.bytes().map(u32::from).sum::<u32>() % 10 {
            1 => Self::SwitchedOff,
            2 => Self::Busy,
            3 => Self::Restarting,
            _ => Self::Works,
        }
    }
}
