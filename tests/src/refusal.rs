//! A database that refuses to change some rows.

use crate::database::{Db, TestDb};
use crate::logged;
use crate::stands::Kind;

/// The first of ten thousand ids that no other test of this process has: the log names rows of all.
#[must_use]
pub fn ids() -> i64 {
    logged::ids(10_000)
}

/// Makes the database refuse every update of rows for which `condition` holds, which says `OLD.id`.
///
/// PostgreSQL counts what it refuses: see [`refusals`].
pub async fn refuse<DB: Db>(db: &TestDb<DB>, table: &str, condition: &str) {
    let sql = match DB::KIND {
        Kind::Postgres => format!(
            "CREATE SEQUENCE refusals; \
             CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS \
             $$ BEGIN PERFORM nextval('refusals'); RAISE EXCEPTION 'not this one'; END $$; \
             CREATE TRIGGER refuse BEFORE UPDATE ON {table} \
             FOR EACH ROW WHEN ({condition}) EXECUTE FUNCTION refuse()"
        ),
        Kind::Sqlite => format!(
            "CREATE TRIGGER refuse BEFORE UPDATE ON {table} WHEN {condition} \
             BEGIN SELECT RAISE(ABORT, 'not this one'); END"
        ),
    };
    db.execute(sql).await;
}

/// Lets the database change every row again.
pub async fn mend<DB: Db>(db: &TestDb<DB>, table: &str) {
    let sql = match DB::KIND {
        Kind::Postgres => format!("DROP TRIGGER refuse ON {table}"),
        Kind::Sqlite => "DROP TRIGGER refuse".to_owned(),
    };
    db.execute(sql).await;
}

/// How many statements were refused: a sequence is not rolled back. PostgreSQL only.
pub async fn refusals<DB: Db>(db: &TestDb<DB>) -> i64 {
    db.value("SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM refusals").await
}
