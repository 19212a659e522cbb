//! How long a client waits for its server.

use std::time::Duration;

use super::Backend;

/// How long a client waits for an answer. The server's own limit is below, so that a statement
/// whose client went away does not go on.
const DEADLINE: Duration = Duration::from_secs(12);

/// Waits no longer than the deadline, where a statement that runs can be left to its server.
pub(super) async fn limited<DB: Backend, T>(
    operation: impl Future<Output = sqlx::Result<T>>,
) -> sqlx::Result<T> {
    if DB::INTERRUPTIBLE {
        let elapsed = || Err(sqlx::Error::Io(std::io::ErrorKind::TimedOut.into()));
        tokio::time::timeout(DEADLINE, operation).await.unwrap_or_else(|_| elapsed())
    } else {
        operation.await
    }
}

/// Waits no longer than the deadline for what leaves nothing behind when it is dropped.
pub(super) async fn within_deadline<T>(
    operation: impl Future<Output = sqlx::Result<T>>,
) -> sqlx::Result<T> {
    tokio::time::timeout(DEADLINE, operation).await.unwrap_or(Err(sqlx::Error::PoolTimedOut))
}
