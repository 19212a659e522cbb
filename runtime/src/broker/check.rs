//! Start-up checks of a table: everything that is missing, in one error, before a row is claimed.

use crate::backend::{Backend, Connections, Failure, Fault, Sql, Urgency, Values, bind, types};
use crate::descriptor::Role;
use crate::dialect::{Dialect, Names, Statement};
use crate::error::SqlxBrokerError;
use crate::handler::TableOn;

/// Finds every missing column, and prepares every statement.
pub(super) async fn table<DB: Backend, T: TableOn<DB>>(
    connections: &Connections<DB>,
    dialect: &DB::Dialect,
    names: &Names,
    statements: Vec<&Statement>,
    subscription: &'static str,
) -> Result<(), SqlxBrokerError> {
    let connect = |failure: Failure| SqlxBrokerError::Connect(failure.error);
    let mut findings = missing::<DB, T>(connections, dialect, names).await.map_err(connect)?;
    // A prepare names one missing column at most, so it says nothing new then.
    if findings.is_empty() {
        let form = T::TABLE.lease_form();
        let prepared = statements.into_iter().map(|statement| {
            (statement.name(), statement.sql(), types::<DB, T::Id>(statement, form))
        });
        for failure in connections.prepare(prepared.collect()).await {
            if !matches!(failure.fault, Fault::Schema | Fault::Data) {
                return Err(connect(failure));
            }
            findings.push(format!(
                "the statement `{}` cannot be prepared: {}",
                failure.statement, failure.error
            ));
        }
    }
    if findings.is_empty() {
        return Ok(());
    }
    Err(SqlxBrokerError::Schema {
        subscription: subscription.to_owned(),
        table: T::TABLE.to_string(),
        findings,
    })
}

async fn missing<DB: Backend, T: TableOn<DB>>(
    connections: &Connections<DB>,
    dialect: &DB::Dialect,
    names: &Names,
) -> Result<Vec<String>, Failure> {
    let table = T::TABLE;
    let values = Values::<T::Id> {
        table: if DB::Dialect::CATALOG_PARSES_NAMES { names.table() } else { table.name() },
        schema: table.schema_name().unwrap_or_default(),
        ..Values::default()
    };
    let query = bind::<DB, T::Id>(&dialect.columns(names), &values)?;
    let rows = connections.rows(Urgency::Claim, query).await?;
    let there: sqlx::Result<Vec<String>> = rows.iter().map(|row| DB::text(row, 0)).collect();
    let there = there.map_err(|error| Failure::new::<DB>("columns", error))?;
    if there.is_empty() {
        return Ok(vec![format!("the table `{table}` does not exist")]);
    }
    let is_there = |name: &str| there.iter().any(|there| DB::Dialect::same_name(there, name));
    let missing = table.columns().iter().filter(|column| !is_there(column.name()));
    let finding = missing.map(|column| match column.role() {
        Role::Data => format!("the column `{}` does not exist", column.name()),
        role => format!("the column `{}` ({role}) does not exist", column.name()),
    });
    Ok(finding.collect())
}
