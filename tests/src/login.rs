//! A login of a test's own on PostgreSQL, which can be refused while everybody else's goes on.

use sqlx::Postgres;

use crate::database::TestDb;
use crate::stands::address;

/// A role that may use the test's tables. It goes with the test's schema, whose name it has.
#[derive(Debug)]
pub struct Login {
    db: TestDb<Postgres>,
    name: String,
    url: String,
}

impl Login {
    /// A login for the tables that are there.
    pub async fn to(db: &TestDb<Postgres>) -> Self {
        let name: String = db.value("SELECT CAST(current_schema() AS text)").await;
        // With a password, for servers that ask for one.
        db.execute(format!(
            "CREATE ROLE {name} LOGIN PASSWORD '{name}'; \
             GRANT USAGE ON SCHEMA {name} TO {name}; \
             GRANT ALL ON ALL TABLES IN SCHEMA {name} TO {name}"
        ))
        .await;
        let host = address(db.url());
        let (_, place) = db.url().split_once(host).unwrap();
        let url = format!("postgres://{name}:{name}@{host}{place}");
        Self { db: db.clone(), name, url }
    }

    /// Where a broker logs in with it.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Changes the role, as `NOLOGIN` does; its sessions go on as they are.
    pub async fn alter(&self, change: &str) {
        self.db.execute(format!("ALTER ROLE {} {change}", self.name)).await;
    }

    /// Terminates its sessions, and returns how many there were.
    pub async fn terminate(&self) -> i64 {
        let terminate = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
             WHERE usename = current_schema()";
        self.db.value(terminate).await
    }
}
