//! Without statistics, and with those of an empty table.

use queue_table::descriptor::{Form, Role};
use queue_table_tests::conformance;
use queue_table_tests::database::TestDb;
use queue_table_tests::plans::sqlite::{open, plan, run};
use queue_table_tests::shapes::{Shape, rendered, shapes};
use sqlx::Sqlite;

conformance![Sqlite: every_statement_finds_its_rows_by_an_index];

async fn every_statement_finds_its_rows_by_an_index(_: TestDb<Sqlite>) {
    let mut wrong = Vec::new();
    // A moved clock is bound like every other.
    for shape in shapes().iter().filter(|shape| shape.name != "moved_clock") {
        let mut connection = open("sqlite::memory:").await;
        run(&mut connection, &shape.ddl::<Sqlite>()).await;
        for analyzed in ["", "ANALYZE"] {
            run(&mut connection, analyzed).await;
            for statement in rendered::<Sqlite>(shape) {
                let steps = plan(&mut connection, statement.statement.text()).await;
                if let Some(fault) = fault(shape, &statement.name, &steps) {
                    let steps = steps.join("\n  ");
                    let name = format!("{}/{}", shape.name, statement.name);
                    wrong.push(format!("{name}: {fault}\n  {steps}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The rows of a statement, each once.
const DISTINCT: &str = "USE TEMP B-TREE FOR DISTINCT";

fn fault(shape: &Shape, statement: &str, steps: &[String]) -> Option<String> {
    let picks = format!("c USING INDEX {}{}", index(shape), bounds(shape, statement));
    let allowed = |step: &&String| {
        // The filter is over the few ids.
        let rows_of_the_statement =
            ["SCAN u", "CO-ROUTINE u", "MATERIALIZE u", "CREATE BLOOM FILTER", DISTINCT];
        rows_of_the_statement.contains(&step.as_str())
            || step.starts_with("LIST SUBQUERY")
            || (step.starts_with("SCAN ") && step.contains(" CONSTANT ROW"))
            || (step.starts_with("SCAN ") && step.ends_with("-ROW VALUES CLAUSE"))
            || step.starts_with("SEARCH j USING INTEGER PRIMARY KEY (rowid=?)")
            || step.starts_with("SEARCH j USING INDEX sqlite_autoindex_jobs_1 (id=?)")
            || step.starts_with("SEARCH j USING COVERING INDEX sqlite_autoindex_jobs_1 (id=?)")
            || (statement == "columns" && step.starts_with("SCAN p VIRTUAL TABLE"))
            || (statement == "claim_one" && is_search_by_id(step))
            || step.split_once(' ').is_some_and(|(_, rest)| rest == picks)
    };
    if let Some(step) = steps.iter().find(|step| !allowed(step)) {
        return Some(format!("`{step}` is no search by an index"));
    }
    let wanted = match statement {
        claim if claim.starts_with("claim") => 2,
        insert if insert.starts_with("insert") => 0,
        "columns" => 0,
        _ => 1,
    };
    let of_the_table = |step: &&String| step.contains(" j USING ") || step.contains(" c USING ");
    let found = steps.iter().filter(of_the_table).count();
    (found != wanted).then(|| format!("{found} searches of the table instead of {wanted}"))
}

/// By the primary key, whatever kind of key it is.
fn is_search_by_id(step: &str) -> bool {
    step == "SEARCH c USING INTEGER PRIMARY KEY (rowid=?)"
        || step == "SEARCH c USING INDEX sqlite_autoindex_jobs_1 (id=?)"
}

fn index(shape: &Shape) -> &'static str {
    // What SQLite calls the index of a primary key that is no integer.
    if shape.id == "text" { "sqlite_autoindex_jobs_1" } else { shape.ready }
}

/// What the index search of a claim must hold; without any, rows come in the order of the key.
fn bounds(shape: &Shape, claim: &str) -> String {
    let mut bounds = Vec::new();
    bounds.extend(shape.table.column(Role::Group).map(|group| format!("{}=?", group.name())));
    if let Some(retry_after) = shape.table.column(Role::RetryAfter) {
        let key = match retry_after.form() {
            Form::Time { nullable: true, .. } => "<expr>",
            _ => retry_after.name(),
        };
        if claim.contains("retries") {
            bounds.push(format!("{key}>?"));
        }
        bounds.push(format!("{key}<?"));
    }
    match bounds.is_empty() {
        // A key of text can be null, and a claim begins behind those.
        true if shape.id == "text" => " (id>?)".to_owned(),
        true => String::new(),
        false => format!(" ({})", bounds.join(" AND ")),
    }
}
