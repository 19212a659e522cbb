//! Tables of dead letters that take no row, or not each.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use queue_table::__private::lease::HostClock;
use queue_table::prelude::*;
use queue_table_tests::conformance;
use queue_table_tests::database::{Db, TestDb};
use queue_table_tests::errands::{
    DeadErrand, create_errands, publish_errands, publish_unended, run_errand,
};
use queue_table_tests::eventually::{eventually, stays};
use queue_table_tests::logged;
use queue_table_tests::queue::Script;
use queue_table_tests::stands::Kind;

use super::Database;

conformance![
    Database:
    a_dead_letter_that_is_refused_costs_the_others_nothing,
    a_dead_letter_that_a_trigger_keeps_out_is_not_lost,
    a_dead_letter_whose_reason_is_refused_goes_without_it,
    a_dropped_table_of_dead_letters_stops_nobody,
];

const ROWS: i64 = 20;

/// A service whose clock a test can move, with rows that are spent before they are claimed.
struct Ground {
    db: TestDb<Database>,
    first: i64,
    shift: Arc<AtomicI64>,
    script: Script,
}

impl Ground {
    async fn new(db: TestDb<Database>) -> Self {
        create_errands(&db).await;
        let (shift, script) = (Arc::default(), Script::always(Outcome::ack()));
        Self { db, first: logged::ids(2 * ROWS + 1), shift, script }
    }

    async fn start(&self) -> RunningService {
        // As if each had killed its process, so that one claim decides about all of them.
        publish_unended(&self.db, self.first, ROWS, 1).await;
        let clock = HostClock::shifted(Arc::clone(&self.shift));
        let broker = SqlxBroker::<Database>::from_url(self.db.url()).clock(clock);
        let service = Service::new("test").state(self.script.clone()).with_broker(broker, |b| {
            let errand = run_errand.max_attempts(1).dead_letter_table::<DeadErrand>();
            b.mount(errand.workers(100));
        });
        service.start().await.unwrap()
    }

    /// Waits until all but some rows are dead letters, and these keep their leases.
    async fn all_moved_but(&self, kept: &[i64]) {
        eventually("the others move", async || self.left().await == kept).await;
        let now = Database::now_plus(0);
        let leased = format!("SELECT id FROM errands WHERE locked_until > {now} ORDER BY id");
        stays("they keep their leases", Duration::from_millis(200), async || {
            let leased: Vec<(i64,)> = self.db.rows(leased.as_str()).await;
            leased.iter().map(|(id,)| *id).eq(kept.iter().copied())
        })
        .await;
        let moved: i64 = self.db.value("SELECT count(*) FROM dead_errands WHERE attempt = 1").await;
        assert_eq!(moved + i64::try_from(kept.len()).unwrap(), ROWS, "nothing is lost");
    }

    /// The rows that have not moved.
    async fn left(&self) -> Vec<i64> {
        let left: Vec<(i64,)> = self.db.rows("SELECT id FROM errands ORDER BY id").await;
        left.into_iter().map(|(id,)| id).collect()
    }

    /// What was logged of a row that was refused.
    fn refused(&self, row: i64) -> logged::Fields {
        let mut refused = logged::of_row("dead letter refused", row);
        assert_eq!(refused.len(), 1, "{refused:?}");
        refused.remove(0)
    }

    /// After the end of the leases the rows move that were kept.
    async fn the_kept_ones_move(&self, running: RunningService) {
        self.shift.fetch_add(3_600_000_000, Ordering::Relaxed);
        eventually("the kept rows move", async || self.left().await.is_empty()).await;
        running.shutdown().await.unwrap();
        assert_eq!(self.script.seen(), [], "no handler sees a spent row");
    }
}

async fn a_dead_letter_that_is_refused_costs_the_others_nothing(db: TestDb<Database>) {
    let ground = Ground::new(db).await;
    let twice = ground.first + 7;
    // It was brought back and its dead letter left there.
    ground
        .db
        .execute(format!(
            "INSERT INTO dead_errands (id, attempt, payload) SELECT {twice}, 9, payload FROM \
             (SELECT CAST('' AS {}) AS payload) AS p",
            Database::BYTES
        ))
        .await;
    let running = ground.start().await;
    ground.all_moved_but(&[twice]).await;
    let refused = ground.refused(twice);
    assert_eq!(refused["dead_letters"], "\"\\\"dead_errands\\\"\"");
    assert_eq!(refused["rows"], "1");
    assert!(refused["error"].to_lowercase().contains("unique"), "{refused:?}");
    assert!(refused["help"].contains("a row with the same id"), "{refused:?}");
    ground.db.execute("DELETE FROM dead_errands WHERE attempt = 9").await;
    ground.the_kept_ones_move(running).await;
}

/// Keeps one row out of the table of the dead letters, and says nothing.
fn keep_out(row: i64) -> String {
    match Database::KIND {
        Kind::Postgres => format!(
            "CREATE FUNCTION keep_out() RETURNS trigger LANGUAGE plpgsql AS \
             'BEGIN RETURN NULL; END'; \
             CREATE TRIGGER keep_out BEFORE INSERT ON dead_errands \
             FOR EACH ROW WHEN (NEW.id = {row}) EXECUTE FUNCTION keep_out()"
        ),
        Kind::Sqlite => format!(
            "CREATE TRIGGER keep_out BEFORE INSERT ON dead_errands WHEN NEW.id = {row} \
             BEGIN SELECT RAISE(IGNORE); END"
        ),
    }
}

async fn a_dead_letter_that_a_trigger_keeps_out_is_not_lost(db: TestDb<Database>) {
    let ground = Ground::new(db).await;
    let kept = ground.first + 3;
    ground.db.execute(keep_out(kept)).await;
    let running = ground.start().await;
    ground.all_moved_but(&[kept]).await;
    let refused = ground.refused(kept);
    assert!(refused["error"].contains("the table of the dead letters took 0"), "{refused:?}");
    ground
        .db
        .execute(match Database::KIND {
            Kind::Postgres => "DROP TRIGGER keep_out ON dead_errands",
            Kind::Sqlite => "DROP TRIGGER keep_out",
        })
        .await;
    ground.the_kept_ones_move(running).await;
}

async fn a_dead_letter_whose_reason_is_refused_goes_without_it(db: TestDb<Database>) {
    let ground = Ground::new(db).await;
    ground
        .db
        .execute("ALTER TABLE dead_errands ADD COLUMN sane text CHECK (last_error IS NULL)")
        .await;
    let running = ground.start().await;
    eventually("all rows move", async || ground.left().await.is_empty()).await;
    running.shutdown().await.unwrap();
    assert_eq!(logged::of_row("dead letter refused", ground.first), []);
}

async fn a_dropped_table_of_dead_letters_stops_nobody(db: TestDb<Database>) {
    let ground = Ground::new(db).await;
    let running = ground.start().await;
    ground.all_moved_but(&[]).await;
    ground
        .db
        .execute("CREATE TABLE kept_aside AS SELECT * FROM dead_errands; DROP TABLE dead_errands")
        .await;
    let fresh = ground.first + ROWS;
    publish_errands(&ground.db, fresh, 1).await;
    publish_unended(&ground.db, fresh + 1, ROWS, 1).await;
    let refused = async || {
        let rows = |row| logged::of_row("dead letter refused", row).pop()?.remove("rows");
        let rows = (fresh + 1..=fresh + ROWS).filter_map(rows);
        rows.filter_map(|rows| rows.parse::<i64>().ok()).sum::<i64>()
    };
    eventually("all of them are refused", async || refused().await == ROWS).await;
    eventually("the other one is worked on", async || {
        ground.script.seen() == [(fresh, 1)] && !ground.left().await.contains(&fresh)
    })
    .await;
    let kept: Vec<_> = (fresh + 1..=fresh + ROWS).collect();
    stays("the rows stay, and the service goes on", Duration::from_millis(200), async || {
        ground.left().await == kept && refused().await == ROWS
    })
    .await;
    let help = ground.refused(fresh + 1).remove("help").unwrap();
    assert!(help.contains("a missing table"), "{help}");
    create_dead_errands(&ground.db).await;
    ground.shift.fetch_add(3_600_000_000, Ordering::Relaxed);
    eventually("they move", async || ground.left().await.is_empty()).await;
    running.shutdown().await.unwrap();
}

async fn create_dead_errands(db: &TestDb<Database>) {
    db.execute("CREATE TABLE dead_errands AS SELECT * FROM kept_aside WHERE 1 = 0").await;
}
