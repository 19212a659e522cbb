//! Quickstart: a week of earthquakes through a queue table, on SQLite or on PostgreSQL.
//!
//! What a service of your own would have stands in `tables.rs` (the declared table), `handlers.rs`
//! (the two handlers) and `work.rs` (the service). The rest is the program around them.

mod arguments;
mod child;
mod database;
mod events;
mod handlers;
mod interrupt;
mod place;
mod progress;
mod summary;
mod tables;
mod work;

use std::env;
use std::process::ExitCode;
use std::time::Instant;

use arguments::{Command, HELP, Options};
use child::work_in_children;
use database::Database;
use events::Events;
use place::Place;
use progress::Progress;
use queue_table::CancellationToken;
use summary::{Counts, Summary, print};
use work::work;

/// Every error here is for the person at the terminal, so its text is all that matters.
pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[tokio::main]
async fn main() -> ExitCode {
    let command = match Command::parse(env::args_os().skip(1)) {
        Ok(command) => command,
        Err(error) => {
            progress::say(&format!("error: {error}"));
            return ExitCode::from(2);
        }
    };
    let done = match command {
        Command::Help => print(HELP),
        Command::Work { address } => child::be(&address).await,
        Command::Run(options) => run(&options).await,
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            progress::say(&format!("error: {}", with_causes(&*error)));
            ExitCode::FAILURE
        }
    }
}

/// Loads the events into tables of this run's own, works on them, and removes the tables.
async fn run(options: &Options) -> Result<()> {
    // Before anything is made that a signal could leave behind.
    let stop = interrupt::listen()?;
    let events = Events::read(options.events.as_deref())?;
    let place = Place::make(options.database.as_deref()).await?;
    let summary = run_at(&place, options, &events, &stop).await;
    let removed = place.remove().await;
    let summary = summary?;
    print(&if options.json { summary.json()? } else { summary.text() })?;
    removed?;
    events.some_are_readable()
}

async fn run_at(
    place: &Place,
    options: &Options,
    events: &Events,
    stop: &CancellationToken,
) -> Result<Summary> {
    let database = Database::open(place.address()).await?;
    tables::create(&database).await?;
    tables::load(&database, events).await?;
    let started = Instant::now();
    let mut progress = Progress::new();
    match options.kill_after {
        None => work(&database, stop, |counts| progress.show(counts)).await?,
        Some(events) => {
            work_in_children(&database, place.address(), events, stop, &mut progress).await?;
        }
    }
    progress.end();
    let took = started.elapsed();
    let summary = Summary::new(Counts::of(&database).await?, database.reasons().await?, took);
    database.close().await;
    Ok(summary)
}

/// The error and what caused it, in one line. sqlx's errors say their cause themselves.
fn with_causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let also = error.to_string();
        if !text.ends_with(&also) {
            text = format!("{text}: {also}");
        }
        cause = error.source();
    }
    text
}
