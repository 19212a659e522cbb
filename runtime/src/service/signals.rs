//! The signals that stop a service.

use std::io;

use tokio::signal;

/// Ctrl-C, and SIGTERM where there is one.
pub(super) struct Stop {
    #[cfg(unix)]
    terminate: signal::unix::Signal,
    #[cfg(unix)]
    interrupt: signal::unix::Signal,
}

impl Stop {
    #[cfg(unix)]
    pub(super) fn listen() -> io::Result<Self> {
        use signal::unix::{SignalKind, signal};
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    #[cfg(not(unix))]
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self {})
    }

    #[cfg(unix)]
    pub(super) async fn signal(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }

    #[cfg(not(unix))]
    pub(super) async fn signal(&mut self) {
        // Without a handler the process simply ends, which leaves rows to the end of their leases.
        if signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}
