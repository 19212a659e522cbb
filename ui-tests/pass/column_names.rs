//! A column is called as sqlx calls it.
#![allow(non_snake_case, reason = "a constant's name is made of it")]

use queue_table::prelude::*;

#[derive(QueueTable, sqlx::FromRow)]
#[queue_table(name = "jobs")]
#[sqlx(rename_all = "SCREAMING_SNAKE_CASE")]
struct Job {
    #[queue(id)]
    job_id: i64,
    #[queue(locked_until)]
    #[sqlx(rename = "lockedUntil")]
    until: Option<i64>,
    r#type: String,
    #[sqlx(default)]
    accountId: Option<i64>,
    #[sqlx(skip)]
    #[allow(dead_code, reason = "it is no column, and so nobody's but the user's")]
    skipped: Option<std::time::Instant>,
}

#[test]
fn columns_are_called_as_sqlx_calls_them() {
    let names: Vec<_> = Job::TABLE.columns().iter().map(|column| column.name()).collect();
    assert_eq!(names, ["JOB_ID", "lockedUntil", "TYPE", "ACCOUNT_ID"]);
    assert_eq!((Job::TYPE.name(), Job::ACCOUNT_ID.name()), ("TYPE", "ACCOUNT_ID"));
}
