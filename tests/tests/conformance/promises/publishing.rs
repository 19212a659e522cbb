//! Rows that are published.

use std::time::Duration;

use queue_table::prelude::*;
use queue_table_tests::conformance;
use queue_table_tests::database::{Db, TestDb};
use queue_table_tests::stands::Kind;

use super::queue::{BareJob, Job, KeptJob, Task, create_tables};
use super::{Database, broker};

conformance![
    Database:
    an_insert_returns_the_id_that_the_database_made,
    an_id_can_be_given,
    a_transaction_that_is_rolled_back_publishes_nothing,
    a_delay_is_by_the_databases_clock,
    data_columns_are_set_by_name,
    many_messages_are_one_statement_in_their_order,
    many_messages_have_data_of_their_own,
    no_messages_are_no_statement,
    a_wrong_number_of_values_publishes_nothing,
    a_delay_without_a_column_is_refused,
    a_closed_brokers_publisher_is_refused,
    concurrent_publishes_are_all_there_and_share_statements,
    one_refused_message_costs_the_others_nothing,
];

async fn an_insert_returns_the_id_that_the_database_made(db: TestDb<Database>) {
    create_tables(&db).await;
    let first = Job::message(&Task { n: 1 }).group("work").insert(db.pool()).await.unwrap();
    let second = Job::message(&Task { n: 2 }).group("work").insert(db.pool()).await.unwrap();
    let rows: Vec<(i64, String, i64)> =
        db.rows("SELECT id, kind, attempt FROM jobs ORDER BY id").await;
    assert_eq!(rows, [(first.id, "work".to_owned(), 1), (second.id, "work".to_owned(), 1)]);
}

async fn an_id_can_be_given(db: TestDb<Database>) {
    create_tables(&db).await;
    let job = BareJob::message(&Task { n: 1 }).id("seven".to_owned()).insert(db.pool()).await;
    assert_eq!(job.unwrap().id, "seven");
    assert_eq!(db.value::<String>("SELECT id FROM bare_jobs").await, "seven");
}

async fn a_transaction_that_is_rolled_back_publishes_nothing(db: TestDb<Database>) {
    create_tables(&db).await;
    let mut tx = db.pool().begin().await.unwrap();
    Job::message(&Task { n: 1 }).group("work").insert(&mut *tx).await.unwrap();
    tx.rollback().await.unwrap();
    assert_eq!(db.value::<i64>("SELECT count(*) FROM jobs").await, 0);
}

async fn a_delay_is_by_the_databases_clock(db: TestDb<Database>) {
    create_tables(&db).await;
    let hour = Duration::from_secs(3600);
    Job::message(&Task { n: 1 }).group("work").delay(hour).insert(db.pool()).await.unwrap();
    KeptJob::row().group("work").delay(hour).insert(db.pool()).await.unwrap();
    let (soon, late) = (<Database as Db>::now_plus(3590), <Database as Db>::now_plus(3601));
    let due = format!("SELECT count(*) FROM jobs WHERE retry_after BETWEEN {soon} AND {late}");
    assert_eq!(db.value::<i64>(due).await, 1);
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs();
    let due: i64 = db.value("SELECT due FROM kept_jobs").await;
    let seconds = u64::try_from(due).unwrap() / 1_000_000 - now;
    assert!((3590..=3601).contains(&seconds), "{seconds}");
}

async fn data_columns_are_set_by_name(db: TestDb<Database>) {
    create_tables(&db).await;
    let note = Some("hello".to_owned());
    let message = Job::message(&Task { n: 1 }).group("work").set(Job::NOTE, note);
    message.insert(db.pool()).await.unwrap();
    assert_eq!(db.value::<String>("SELECT note FROM jobs").await, "hello");
}

async fn many_messages_are_one_statement_in_their_order(db: TestDb<Database>) {
    create_tables(&db).await;
    let tasks: Vec<_> = (0..3000).map(|n| Task { n }).collect();
    let jobs = Job::messages(&tasks).group("work").insert(db.pool()).await.unwrap();
    assert_eq!(jobs.ids.len(), 3000);
    assert!(jobs.ids.is_sorted());
    assert_eq!(db.value::<i64>("SELECT count(*) FROM jobs WHERE kind = 'work'").await, 3000);
    let rows: Vec<(i64, String)> = db.rows("SELECT id, payload FROM jobs ORDER BY id").await;
    for (n, (row, id)) in rows.iter().zip(&jobs.ids).enumerate() {
        assert_eq!(*row, (*id, format!("{{\"n\":{n}}}")));
    }
    if let Some(statements) = statements(&db).await {
        assert_eq!(statements, 1);
    }
}

/// How many statements inserted the rows of `jobs`, where the database can tell.
async fn statements(db: &TestDb<Database>) -> Option<i64> {
    match <Database as Db>::KIND {
        // Each was a transaction of its own.
        Kind::Postgres => {
            Some(db.value("SELECT count(DISTINCT CAST(xmin AS text)) FROM jobs").await)
        }
        Kind::Sqlite => None,
    }
}

async fn many_messages_have_data_of_their_own(db: TestDb<Database>) {
    create_tables(&db).await;
    let tasks = [Task { n: 1 }, Task { n: 2 }, Task { n: 3 }];
    let notes = [Some("a".to_owned()), None, Some("c".to_owned())];
    let messages = Job::messages(&tasks).group("work").ids([10, 20, 30]);
    messages.set_each(Job::NOTE, notes).insert(db.pool()).await.unwrap();
    let rows: Vec<(i64, Option<String>)> = db.rows("SELECT id, note FROM jobs ORDER BY id").await;
    assert_eq!(rows, [(10, Some("a".to_owned())), (20, None), (30, Some("c".to_owned()))]);
}

async fn no_messages_are_no_statement(db: TestDb<Database>) {
    // Without a table: a statement would fail.
    let none: [Task; 0] = [];
    let jobs = Job::messages(&none).group("work").insert(db.pool()).await.unwrap();
    assert!(jobs.ids.is_empty());
}

async fn a_wrong_number_of_values_publishes_nothing(db: TestDb<Database>) {
    create_tables(&db).await;
    let tasks = [Task { n: 1 }, Task { n: 2 }];
    let messages = Job::messages(&tasks).group("work");
    let error = messages.set_each(Job::NOTE, [None]).insert(db.pool()).await.unwrap_err();
    let error = std::error::Error::source(&error).unwrap().to_string();
    assert!(error.contains("2 messages"), "{error}");
    assert_eq!(db.value::<i64>("SELECT count(*) FROM jobs").await, 0);
}

async fn a_delay_without_a_column_is_refused(db: TestDb<Database>) {
    create_tables(&db).await;
    let message = BareJob::message(&Task { n: 1 }).id("a".to_owned());
    let error = message.delay(Duration::from_secs(1)).insert(db.pool()).await.unwrap_err();
    let error = std::error::Error::source(&error).unwrap().to_string();
    assert!(error.contains("#[queue(retry_after)]"), "{error}");
    assert_eq!(db.value::<i64>("SELECT count(*) FROM bare_jobs").await, 0);
}

async fn a_closed_brokers_publisher_is_refused(db: TestDb<Database>) {
    create_tables(&db).await;
    let connected = SqlxBroker::<Database, _>::new(db.pool().clone()).connect().await.unwrap();
    let publisher = connected.publisher::<Job>();
    publisher.publish(Job::message(&Task { n: 1 }).group("work")).await.unwrap();
    connected.shutdown().await;
    let error = publisher.publish(Job::message(&Task { n: 2 }).group("work")).await.unwrap_err();
    assert!(matches!(error, SqlxBrokerError::Closed), "{error:?}");
    assert_eq!(db.value::<i64>("SELECT count(*) FROM jobs").await, 1);
}

async fn concurrent_publishes_are_all_there_and_share_statements(db: TestDb<Database>) {
    create_tables(&db).await;
    let group = |n: i64| if n % 2 == 0 { "even" } else { "odd" };
    let connected = broker(&db).connect().await.unwrap();
    let publisher = connected.publisher::<Job>();
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..500_i64 {
        let publisher = publisher.clone();
        tasks.spawn(async move {
            let message = Job::message(&Task { n }).group(group(n));
            let job = publisher.publish(message).await.unwrap();
            (job.id, n)
        });
    }
    let mut published = tasks.join_all().await;
    published.sort_unstable();
    let expected: Vec<_> = published
        .iter()
        .map(|(id, n)| (*id, group(*n).to_owned(), format!("{{\"n\":{n}}}")))
        .collect();
    let there: Vec<(i64, String, String)> =
        db.rows("SELECT id, kind, payload FROM jobs ORDER BY id").await;
    assert_eq!(there, expected, "each has an id of its own, and it is its row's");
    assert_eq!(there.len(), 500);
    if let Some(statements) = statements(&db).await {
        assert!(statements < 100, "{statements} statements");
    }
    connected.shutdown().await;
}

async fn one_refused_message_costs_the_others_nothing(db: TestDb<Database>) {
    create_tables(&db).await;
    let connected = broker(&db).connect().await.unwrap();
    let publisher = connected.publisher::<Job>();
    db.execute("CREATE UNIQUE INDEX one_of_each ON jobs (payload)").await;
    publisher.publish(Job::message(&Task { n: 7 }).group("work")).await.unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..20_i64 {
        let publisher = publisher.clone();
        tasks.spawn(async move {
            let message = Job::message(&Task { n }).group("work");
            (n, publisher.publish(message).await.is_ok())
        });
    }
    let refused: Vec<_> =
        tasks.join_all().await.into_iter().filter(|(_, ok)| !ok).map(|(n, _)| n).collect();
    assert_eq!(refused, [7]);
    assert_eq!(db.value::<i64>("SELECT count(*) FROM jobs").await, 20);
    connected.shutdown().await;
}
