//! Waking the subscriptions of this process, without the database.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Weak};

use parking_lot::Mutex;
use tokio::sync::Notify;

/// Claim loops by their table's name and their group.
type Subscribed = HashMap<(String, String), Vec<Weak<Wake>>>;

/// The subscriptions of this process.
static SUBSCRIBED: LazyLock<Mutex<Subscribed>> = LazyLock::new(Mutex::default);

/// What wakes a claim loop that waits for its poll interval.
#[derive(Debug, Default)]
pub(crate) struct Wake {
    woken: AtomicBool,
    notify: Notify,
}

impl Wake {
    /// A wake that others find by the table's name and the group; empty where there is none.
    pub(crate) fn register(table: &str, group: &str) -> Arc<Self> {
        let wake = Arc::new(Self::default());
        let mut subscribed = SUBSCRIBED.lock();
        let wakes = subscribed.entry((table.to_owned(), group.to_owned())).or_default();
        wakes.retain(|wake| wake.strong_count() > 0);
        wakes.push(Arc::downgrade(&wake));
        wake
    }

    pub(crate) fn wake(&self) {
        self.woken.store(true, Ordering::Release);
        self.notify.notify_one();
    }

    /// Whether it was woken since the last time that somebody asked.
    pub(crate) fn take(&self) -> bool {
        self.woken.swap(false, Ordering::AcqRel)
    }

    /// Waits until it is woken.
    pub(crate) async fn woken(&self) {
        self.notify.notified().await;
    }
}

/// Wakes every subscription of this process to a table's group.
pub(crate) fn wake(table: &str, group: &str) {
    // Two short texts a publish, beside a statement to the database.
    let key = (table.to_owned(), group.to_owned());
    if let Some(wakes) = SUBSCRIBED.lock().get(&key) {
        wakes.iter().filter_map(Weak::upgrade).for_each(|wake| wake.wake());
    }
}

/// Wakes every subscription of this process to a table, whatever its group.
pub(crate) fn wake_all(table: &str) {
    let subscribed = SUBSCRIBED.lock();
    let wakes = subscribed.iter().filter(|((name, _), _)| name == table);
    wakes.flat_map(|(_, wakes)| wakes).filter_map(Weak::upgrade).for_each(|wake| wake.wake());
}
