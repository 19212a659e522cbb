//! The host's clock, as far as it is a database's: SQLite's files are on this host.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::dialect::Clock;

/// The host's clock, which a test can move. Its shift also moves the clock of other databases.
#[derive(Debug, Clone, Default)]
pub struct HostClock {
    shift: Option<Arc<AtomicI64>>,
}

impl HostClock {
    /// A clock that runs `shift` microseconds before the real one.
    #[must_use]
    pub const fn shifted(shift: Arc<AtomicI64>) -> Self {
        Self { shift: Some(shift) }
    }

    pub(crate) fn shift(&self) -> i64 {
        self.shift.as_ref().map_or(0, |shift| shift.load(Ordering::Relaxed))
    }

    /// Microseconds since 1970.
    pub(crate) fn now(&self) -> i64 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        micros(now).saturating_add(self.shift())
    }

    /// A moment of this host's monotonic clock, moved as far as the others are.
    pub(crate) fn at(&self, moment: Instant) -> Instant {
        let shift = Duration::from_micros(u64::try_from(self.shift()).unwrap_or_default());
        moment.checked_add(shift).unwrap_or(moment)
    }

    pub(crate) const fn of_statements(&self) -> Clock {
        match self.shift {
            Some(_) => Clock::Shifted,
            None => Clock::Database,
        }
    }
}

/// A hundred years; a database's time type ends later, and an interval's arithmetic too.
pub(crate) const LONGEST: Duration = Duration::from_secs(100 * 366 * 24 * 3600);

/// A duration in microseconds, at most a hundred years.
pub(crate) fn micros(duration: Duration) -> i64 {
    let micros = duration.min(LONGEST).as_micros();
    i64::try_from(micros).unwrap_or(i64::MAX)
}
