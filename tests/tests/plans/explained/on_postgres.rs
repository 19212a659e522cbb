//! On an empty table, with plans that fit every value, in a session of the queue's.

use queue_table::descriptor::{Form, Role};
use queue_table_tests::conformance;
use queue_table_tests::database::TestDb;
use queue_table_tests::plans::postgres::{Session, shown};
use queue_table_tests::shapes::{Rendered, Shape, rendered, shapes};
use serde_json::Value;
use sqlx::Postgres;

conformance![Postgres: every_statement_finds_its_rows_by_an_index];

async fn every_statement_finds_its_rows_by_an_index(db: TestDb<Postgres>) {
    let mut wrong = Vec::new();
    for shape in shapes() {
        let mut session = Session::open(db.url()).await;
        // What kept statements come to after some runs, and the harder case: a plan for every value.
        session.run("SET plan_cache_mode = force_generic_plan").await;
        // Rolled back, so that a schema that a shape names is seen by nobody else.
        session.run(&format!("BEGIN; {}", shape.ddl::<Postgres>())).await;
        for statement in rendered::<Postgres>(&shape) {
            session.prepare(&statement).await;
            let nulls = match statement.types.len() {
                0 => String::new(),
                count => format!("({})", vec!["NULL"; count].join(", ")),
            };
            let plan = session.explain(&statement.name, &nulls, "COSTS OFF").await["Plan"].clone();
            wrong.extend(faults(&shape, &statement, &plan).into_iter().map(|fault| {
                format!("{}/{}: {fault}\n{}", shape.name, statement.name, shown(&plan))
            }));
        }
        session.run("ROLLBACK").await;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A node of a plan, and the types of the nodes above it.
struct Node<'a> {
    node: &'a Value,
    above: Vec<&'a str>,
}

impl<'a> Node<'a> {
    fn word(&self, key: &str) -> &'a str {
        self.node[key].as_str().unwrap_or_default()
    }
}

fn nodes<'a>(node: &'a Value, above: &[&'a str], found: &mut Vec<Node<'a>>) {
    found.push(Node { node, above: above.to_vec() });
    let above = [above, &[node["Node Type"].as_str().unwrap_or_default()]].concat();
    for child in node["Plans"].as_array().into_iter().flatten() {
        nodes(child, &above, found);
    }
}

fn faults(shape: &Shape, statement: &Rendered, plan: &Value) -> Vec<String> {
    let mut found = Vec::new();
    nodes(plan, &[], &mut found);
    let reads = |node: &&Node<'_>| {
        node.word("Relation Name") == shape.table.name() && node.word("Node Type") != "ModifyTable"
    };
    let in_order = walks_the_order(&statement.name);
    let mut faults = Vec::new();
    let aliases: Vec<_> = found.iter().filter(reads).map(|node| node.word("Alias")).collect();
    if aliases != expected_aliases(shape, statement) {
        faults.push(format!("reads the table as {aliases:?}"));
    }
    for node in found.iter().filter(reads) {
        let (scan, index, condition) =
            (node.word("Node Type"), node.word("Index Name"), node.word("Index Cond"));
        let picks = in_order && node.word("Alias") == "c";
        let wanted = match picks {
            true => shape.ready.to_owned(),
            false => format!("{}_pkey", shape.table.name()),
        };
        if !matches!(scan, "Index Scan" | "Index Only Scan") || index != wanted {
            faults.push(format!("{scan} {index} instead of an index search in {wanted}"));
        }
        let missing = match picks {
            true => bounds(shape, &statement.name).into_iter().find(|it| !condition.contains(it)),
            false => condition.is_empty().then(|| "id".to_owned()),
        };
        if let Some(missing) = missing {
            faults.push(format!("`{missing}` is no bound of the search: {condition}"));
        }
        // The few rows of a claim are put into order at its end; the many are in the index's.
        let below = |it: &&&str| **it != "ModifyTable" && statement.name.starts_with("claim");
        if node.above.iter().skip_while(below).any(|it| it.contains("Sort")) {
            faults.push("sorts the rows of the table".to_owned());
        }
    }
    faults
}

/// Whether it picks its rows in the claim's order.
fn walks_the_order(statement: &str) -> bool {
    statement.starts_with("first") || statement.starts_with("claim") && statement != "claim_one"
}

fn expected_aliases(shape: &Shape, statement: &Rendered) -> Vec<&'static str> {
    let deletes_or_updates =
        ["ack", "retry", "retry_after", "dead_letter", "give_back", "release", "renew"];
    match statement.name.as_str() {
        name if name.starts_with("first") => vec!["c"],
        "claim_one" => vec!["r", "j"],
        // What is moved is found as what is deleted.
        "dead_letter_table" => vec!["c", "j"],
        "dead_letter_table_locked" => vec!["j"],
        name if name.starts_with("claim") || deletes_or_updates.contains(&name) => vec!["c", "j"],
        "look" => vec!["r"],
        "columns" => vec![],
        name if name.starts_with("insert") => vec![],
        name => unreachable!("{name} of {}", shape.name),
    }
}

/// What the index condition of a claim must hold.
fn bounds(shape: &Shape, claim: &str) -> Vec<String> {
    let column = |role| shape.table.column(role).map(|column| column.name());
    let quoted = |name: &str| {
        let plain = name.chars().all(|c| c.is_ascii_lowercase() || c == '_') && name != "group";
        if plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
    };
    let mut bounds = Vec::new();
    bounds.extend(column(Role::Group).map(|group| format!("({} = ", quoted(group))));
    if let Some(retry_after) = shape.table.column(Role::RetryAfter) {
        let name = quoted(retry_after.name());
        let key = match retry_after.form() {
            Form::Time { nullable: true, .. } => format!("COALESCE({name}, "),
            _ => format!("({name} "),
        };
        bounds.push(key);
        bounds.push("<= ".to_owned());
        if claim.contains("retries") {
            bounds.push("> ".to_owned());
        }
    }
    if claim.contains("watermark") {
        bounds.push(match column(Role::RetryAfter) {
            Some(_) => "ROW(".to_owned(),
            None => format!("({} > ", quoted(column(Role::Id).unwrap_or_default())),
        });
    }
    bounds
}
