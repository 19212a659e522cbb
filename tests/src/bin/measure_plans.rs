//! Prints what statements cost on a large table, beside what they cost on a small one.
//!
//! ```text
//! cargo run --release -p queue-table-tests --bin measure_plans -- --rows 10000000 postgres://host/database
//! cargo run --release -p queue-table-tests --bin measure_plans -- --rows 10000000 --sqlite file.db
//! ```
//!
//! On PostgreSQL it works in a schema of its own, on SQLite in a file that must not be there; both
//! are removed afterwards.

use std::env;
use std::path::Path;
use std::process::ExitCode;

use queue_table_tests::conformance::{Postgres, Sqlite};
use queue_table_tests::database::Db;
use queue_table_tests::plans::{Cost, FEW_ROWS, State, postgres, report, sqlite};
use queue_table_tests::stands::Stand;

const USAGE: &str = "usage: measure_plans [--rows N] (postgres://.. | --sqlite FILE)";

type Measured = Vec<(State, Vec<Cost>)>;

enum Place {
    Postgres(String),
    Sqlite(String),
}

#[tokio::main]
async fn main() -> ExitCode {
    let Some((rows, place)) = arguments(env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::FAILURE;
    };
    let (few, many) = match place {
        Place::Postgres(url) => on_postgres(url, rows).await,
        Place::Sqlite(file) if Path::new(&file).exists() => {
            eprintln!("error: {file} is there already");
            return ExitCode::FAILURE;
        }
        Place::Sqlite(file) => on_sqlite(&file, rows).await,
    };
    println!("{}", report(rows, &few, &many));
    ExitCode::SUCCESS
}

fn arguments(mut words: impl Iterator<Item = String>) -> Option<(u64, Place)> {
    let (mut rows, mut place) = (1_000_000, None);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--rows" => rows = words.next()?.parse().ok()?,
            "--sqlite" => place = Some(Place::Sqlite(words.next()?)),
            url if url.starts_with("postgres") => place = Some(Place::Postgres(word)),
            _ => return None,
        }
    }
    Some((rows, place?))
}

async fn on_postgres(url: String, rows: u64) -> (Measured, Measured) {
    let stand = Stand { name: "measured".to_owned(), kind: Postgres::KIND, url };
    let (url, schema) = Postgres::create(&stand).await;
    let few = postgres::measure(&url, FEW_ROWS).await;
    let many = postgres::measure(&url, rows).await;
    Postgres::remove(&stand, schema).await;
    (few, many)
}

async fn on_sqlite(file: &str, rows: u64) -> (Measured, Measured) {
    let url = format!("{}://{file}", Sqlite::KIND);
    let few = sqlite::measure(&url, FEW_ROWS).await;
    remove(file);
    let many = sqlite::measure(&url, rows).await;
    remove(file);
    (few, many)
}

fn remove(file: &str) {
    for end in ["", "-wal", "-shm"] {
        // The files beside it are there only while it is open.
        let _ = std::fs::remove_file(format!("{file}{end}"));
    }
}
