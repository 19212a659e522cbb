//! Where a sweep takes place, and what must hold there after each drop.

use std::time::Duration;

use queue_table::prelude::*;
use queue_table_tests::database::{Db, TestDb};
use queue_table_tests::eventually::eventually;
use queue_table_tests::proxy::{Proxy, Way};
use queue_table_tests::queue::{Job, Script, Task, create_tables, scripted};
use queue_table_tests::stands::Kind;
use sqlx::Pool;
use sqlx::pool::PoolOptions;

use crate::point::{Point, at_every_point};

use super::super::Database;

/// Each way: a statement then takes long enough for a drop to find it anywhere.
const DELAY: Duration = Duration::from_millis(5);

/// A database, a way to it, and how many connections may lead there.
pub(super) struct Ground {
    pub(super) db: TestDb<Database>,
    pub(super) url: String,
    pub(super) connections: u32,
    // Held for its `Drop`.
    _proxy: Option<Proxy>,
}

/// Whose pool a broker works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    Broker,
    Service,
}

impl Ground {
    /// A pool that the service would build.
    pub(super) async fn pool(&self) -> Pool<Database> {
        let options = PoolOptions::new().max_connections(self.connections);
        options.connect(&self.url).await.unwrap()
    }

    /// A broker that builds its pool.
    pub(super) fn broker(&self) -> SqlxBroker<Database> {
        SqlxBroker::from_url(&self.url).connection_limit(self.connections)
    }

    /// Puts so many rows of group `work` into `jobs`, next to the server.
    pub(super) async fn publish(&self, rows: i64) {
        let tasks: Vec<_> = (1..=rows).map(|n| Task { n }).collect();
        Job::messages(&tasks).group("work").insert(self.db.pool()).await.unwrap();
    }

    pub(super) async fn rows(&self) -> i64 {
        self.db.value("SELECT count(*) FROM jobs").await
    }

    /// No session is left inside a transaction, and every row can be claimed.
    pub(super) async fn is_sound(&self) {
        let Self { db, .. } = self;
        if Database::KIND == Kind::Postgres {
            eventually("no session is idle in a transaction", async || {
                let left = "SELECT count(*) FROM pg_stat_activity \
                     WHERE state LIKE 'idle in transaction%' \
                     AND application_name = current_setting('application_name')";
                db.value::<i64>(left).await == 0
            })
            .await;
        }
        let now = Database::now_plus(0);
        eventually("every row can be claimed", async || {
            let leased = format!("SELECT count(*) FROM jobs WHERE locked_until > {now}");
            db.value::<i64>(leased).await == 0
        })
        .await;
        // On SQLite a transaction that is left open would refuse this.
        db.execute("UPDATE jobs SET note = 'sound'").await;
    }

    /// No session is left but the test's own. SQLite has none that could be asked for.
    pub(super) async fn only_our_sessions_are_left(&self) {
        if Database::KIND == Kind::Postgres {
            eventually("only the test's own sessions are left", async || {
                let sessions = "SELECT count(*) FROM pg_stat_activity \
                     WHERE application_name = current_setting('application_name')";
                self.db.value::<i64>(sessions).await == i64::from(self.db.pool().size())
            })
            .await;
        }
    }

    /// All connections of a pool can be had at the same time.
    pub(super) async fn no_slot_is_lost(&self, pool: &Pool<Database>) {
        let mut all = Vec::new();
        for _ in 0..self.connections {
            all.push(pool.acquire().await.unwrap());
        }
    }

    /// Works off what the sweep left, which proves that it can be claimed.
    async fn is_drained(&self) {
        let broker = SqlxBroker::<Database>::from_url(self.db.url());
        let service = Service::new("after the sweep").state(Script::always(Outcome::ack()));
        let service = service.with_broker(broker, |b| {
            b.mount(scripted);
        });
        let running = service.start().await.unwrap();
        eventually("no row is left", async || self.rows().await == 0).await;
        running.shutdown().await.unwrap();
    }
}

/// Sweeps on every ground, with both kinds of pools. `once` goes to one point and tells whether the
/// future was ready before it.
pub(super) async fn sweep(
    db: TestDb<Database>,
    mut once: impl AsyncFnMut(&Ground, Owner, Point) -> bool,
) {
    create_tables(&db).await;
    for connections in [1, 2] {
        for delay in [None, Some(DELAY)] {
            // SQLite has no network.
            if delay.is_some() && Database::KIND == Kind::Sqlite {
                continue;
            }
            let ground = ground(&db, connections, delay).await;
            for owner in [Owner::Broker, Owner::Service] {
                at_every_point(async |point| {
                    let ready = once(&ground, owner, point).await;
                    ground.is_sound().await;
                    ready
                })
                .await;
            }
            ground.is_drained().await;
            ground.only_our_sessions_are_left().await;
        }
    }
}

async fn ground(db: &TestDb<Database>, connections: u32, delay: Option<Duration>) -> Ground {
    let db = db.clone();
    let Some(delay) = delay else {
        return Ground { url: db.url().to_owned(), db, connections, _proxy: None };
    };
    let (proxy, url) = Proxy::before(db.url()).await;
    proxy.delay(Way::ToServer, delay);
    proxy.delay(Way::ToClient, delay);
    Ground { db, url, connections, _proxy: Some(proxy) }
}
