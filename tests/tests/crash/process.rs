//! A process that works on a test's database.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use queue_table_tests::database::{Db, TestDb};
use queue_table_tests::eventually::eventually;
use queue_table_tests::history::{History, Line};
use queue_table_tests::stands::Kind;
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};

/// What a process is started with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) workers: usize,
    pub(crate) lease_ms: u64,
    /// The row that aborts it; 0 for none.
    pub(crate) poison: i64,
}

/// A folder for the histories of a test's processes.
#[derive(Debug)]
pub(crate) struct Histories(TempDir);

impl Histories {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn of(&self, process: &str) -> PathBuf {
        self.0.path().join(process)
    }

    pub(crate) fn read(&self, process: &str) -> Vec<Line> {
        History::read(&self.of(process))
    }
}

/// A process; it is killed when it is dropped.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    /// What its sessions are called.
    name: String,
}

impl Process {
    pub(crate) fn start<DB: Db>(db: &TestDb<DB>, history: &Path, settings: Settings) -> Self {
        let Settings { workers, lease_ms, poison } = settings;
        let part = |path: Option<&Path>| {
            let name = path.and_then(Path::file_name).unwrap_or_default();
            name.to_string_lossy().into_owned()
        };
        let name = format!("{}-{}", part(history.parent()), part(Some(history)));
        // What is said last holds.
        let url = match DB::KIND {
            Kind::Postgres => format!("{}&application_name={name}", db.url()),
            Kind::Sqlite => db.url().to_owned(),
        };
        let child = Command::new(env!("CARGO_BIN_EXE_crash-worker"))
            .args([DB::KIND.name(), &url])
            .arg(history)
            .args([workers.to_string(), lease_ms.to_string(), poison.to_string()])
            .stdin(Stdio::piped())
            .kill_on_drop(true)
            .spawn();
        Self { child: child.unwrap(), name }
    }

    /// SIGKILL: it learns nothing of it and writes nothing more. Its server may still be at work on a
    /// statement of it, and is waited for.
    pub(crate) async fn kill<DB: Db>(mut self, db: &TestDb<DB>) {
        if DB::KIND != Kind::Postgres {
            return self.child.kill().await.unwrap();
        }
        let sessions = format!(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = '{}'",
            self.name
        );
        assert!(db.value::<i64>(&sessions).await > 0, "it has sessions, by its name");
        self.child.kill().await.unwrap();
        eventually("its sessions are over", async || db.value::<i64>(&sessions).await == 0).await;
    }

    /// Lets its poisoned row abort it, and waits for its end.
    pub(crate) async fn die(mut self) {
        let mut input = self.child.stdin.take().unwrap();
        input.write_all(b"!").await.unwrap();
        let status = self.child.wait().await.unwrap();
        assert!(!status.success(), "it was to be aborted");
    }

    /// Lets it drain and end.
    pub(crate) async fn stop(mut self) {
        drop(self.child.stdin.take());
        let status = self.child.wait().await.unwrap();
        assert!(status.success(), "{status}");
    }
}

/// Puts the rows 1, 2, .. into group `work` of `jobs`.
pub(crate) async fn fill<DB: Db>(db: &TestDb<DB>, rows: i64) {
    let bytes = DB::BYTES;
    db.execute(format!(
        "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {rows}) \
         INSERT INTO jobs (id, kind, payload) \
         SELECT n, 'work', CAST('{{\"n\":' || n || '}}' AS {bytes}) FROM numbers"
    ))
    .await;
}
