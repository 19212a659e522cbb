//! Tables as they can be declared: ids, payloads, names.

use chrono::{DateTime, Utc};
use queue_table::prelude::*;
use queue_table_tests::conformance;
use queue_table_tests::database::{Db, TestDb};
use queue_table_tests::eventually::eventually;
use queue_table_tests::queue::{Script, Seen, Task};
use sqlx::types::Json;

use super::{Database, broker};

conformance![
    Database:
    an_id_can_be_a_small_integer,
    an_id_can_be_a_type_of_the_users_own,
    a_payload_can_be_json_of_one_type,
    names_can_be_awkward,
];

async fn act(script: &Script, n: i64) -> Outcome {
    script.act(Seen { n, attempt: 1, cancellation: CancellationToken::new() }).await
}

#[derive(Debug, QueueTable, sqlx::FromRow)]
#[queue_table(name = "small_jobs")]
struct SmallJob {
    #[queue(id)]
    id: i32,
    #[queue(locked_until)]
    until: Option<i64>,
}

#[subscriber(SmallJob)]
async fn small(row: &SmallJob, State(script): State<Script>) -> Outcome {
    act(&script, i64::from(row.id)).await
}

async fn an_id_can_be_a_small_integer(db: TestDb<Database>) {
    db.execute("CREATE TABLE small_jobs (id integer PRIMARY KEY, until bigint)").await;
    for id in [3, 1, 2] {
        SmallJob::row().id(id).insert(db.pool()).await.unwrap();
    }
    let script = Script::always(Outcome::ack());
    let service =
        Service::new("test").state(script.clone()).with_broker(broker(&db), |b| b.mount(small));
    let running = service.start().await.unwrap();
    eventually("no row is left", async || {
        db.value::<i64>("SELECT count(*) FROM small_jobs").await == 0
    })
    .await;
    running.shutdown().await.unwrap();
    assert_eq!(script.seen().len(), 3);
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, sqlx::Type)]
#[sqlx(transparent)]
struct OrderNo(String);

#[derive(Debug, QueueTable, sqlx::FromRow)]
#[queue_table(name = "typed_jobs")]
struct TypedJob {
    #[queue(id)]
    no: OrderNo,
    #[queue(locked_until)]
    until: Option<DateTime<Utc>>,
    #[queue(payload)]
    task: Json<Task>,
}

#[subscriber(TypedJob)]
async fn typed(task: &Task, State(script): State<Script>) -> Outcome {
    act(&script, task.n).await
}

async fn typed_jobs(db: &TestDb<Database>) {
    let (time, json) = (<Database as Db>::TIME, <Database as Db>::JSON);
    db.execute(format!(
        "CREATE TABLE typed_jobs (no text PRIMARY KEY, until {time}, task {json} NOT NULL)"
    ))
    .await;
}

async fn an_id_can_be_a_type_of_the_users_own(db: TestDb<Database>) {
    typed_jobs(&db).await;
    let job = TypedJob::message(&Task { n: 1 }).id(OrderNo("Ä\"1".to_owned()));
    assert_eq!(job.insert(db.pool()).await.unwrap().id.0, "Ä\"1");
    let script = Script::always(Outcome::ack());
    let service =
        Service::new("test").state(script.clone()).with_broker(broker(&db), |b| b.mount(typed));
    let running = service.start().await.unwrap();
    eventually("no row is left", async || {
        db.value::<i64>("SELECT count(*) FROM typed_jobs").await == 0
    })
    .await;
    running.shutdown().await.unwrap();
}

async fn a_payload_can_be_json_of_one_type(db: TestDb<Database>) {
    typed_jobs(&db).await;
    let tasks: Vec<_> = (1..=40).map(|n| Task { n }).collect();
    let ids = tasks.iter().map(|task| OrderNo(task.n.to_string()));
    TypedJob::messages(&tasks).ids(ids).insert(db.pool()).await.unwrap();
    let script = Script::always(Outcome::ack());
    let service =
        Service::new("test").state(script.clone()).with_broker(broker(&db), |b| b.mount(typed));
    let running = service.start().await.unwrap();
    eventually("no row is left", async || {
        db.value::<i64>("SELECT count(*) FROM typed_jobs").await == 0
    })
    .await;
    running.shutdown().await.unwrap();
    let mut seen: Vec<_> = script.seen().into_iter().map(|(n, _)| n).collect();
    seen.sort_unstable();
    assert_eq!(seen, (1..=40).collect::<Vec<_>>());
}

#[derive(Debug, QueueTable, sqlx::FromRow)]
#[queue_table(name = "order")]
#[sqlx(rename_all = "camelCase")]
struct Awkward {
    #[queue(id)]
    r#type: i64,
    #[queue(group)]
    #[sqlx(rename = "select \"x\"")]
    group: String,
    #[queue(attempt)]
    the_attempt: i32,
    #[queue(retry_after)]
    j: Option<DateTime<Utc>>,
    #[queue(locked_until)]
    c: Option<DateTime<Utc>>,
    #[queue(last_error)]
    u: Option<String>,
    k: Option<i64>,
    #[sqlx(skip)]
    _none: (),
}

#[subscriber(Awkward, group = "it's", max_attempts = 2, dead_letter(group = "dead"))]
async fn awkward(row: &Awkward) -> Outcome {
    match row.k {
        Some(7) => Outcome::ack(),
        _ => Outcome::retry_after(std::time::Duration::from_millis(1)).because("not \"7\"'"),
    }
}

async fn names_can_be_awkward(db: TestDb<Database>) {
    let (id, time) = (<Database as Db>::ID, <Database as Db>::TIME);
    db.execute(format!(
        "CREATE TABLE \"order\" (\"type\" {id}, \"select \"\"x\"\"\" text, \"theAttempt\" integer, \
         j {time}, c {time}, u text, k bigint)"
    ))
    .await;
    Awkward::row().group("it's").set(Awkward::K, Some(7)).insert(db.pool()).await.unwrap();
    Awkward::row().group("it's").set(Awkward::K, None).insert(db.pool()).await.unwrap();
    let service = Service::new("test").with_broker(broker(&db), |b| b.mount(awkward));
    let running = service.start().await.unwrap();
    let dead = "SELECT count(*) FROM \"order\" WHERE \"select \"\"x\"\"\" = 'dead'";
    eventually("one is done and one a dead letter", async || {
        db.value::<i64>("SELECT count(*) FROM \"order\"").await == 1
            && db.value::<i64>(dead).await == 1
    })
    .await;
    running.shutdown().await.unwrap();
    assert_eq!(db.value::<String>("SELECT u FROM \"order\"").await, "not \"7\"'");
}
