//! Ctrl-C, and SIGTERM where there is one.

use std::io;

use queue_table::CancellationToken;

/// The token is cancelled when the process is asked to stop.
///
/// `Service::run` listens by itself; this program also ends when nothing is left to do, and has to
/// clean up, so it listens from its first moment on.
#[cfg(unix)]
pub(crate) fn listen() -> io::Result<CancellationToken> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let token = CancellationToken::new();
    let asked = token.clone();
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        asked.cancel();
    });
    Ok(token)
}

/// The token is cancelled when the process is asked to stop.
#[cfg(not(unix))]
pub(crate) fn listen() -> io::Result<CancellationToken> {
    let token = CancellationToken::new();
    let asked = token.clone();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            asked.cancel();
        }
    });
    Ok(token)
}
