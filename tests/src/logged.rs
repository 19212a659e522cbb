//! What the queue logged in this process, for promises about the log.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Once;
use std::sync::atomic::{AtomicI64, Ordering};

use parking_lot::Mutex;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

static EVENTS: Mutex<Vec<Fields>> = Mutex::new(Vec::new());
static BATCHES: Mutex<Vec<Fields>> = Mutex::new(Vec::new());

/// The fields of an event, by name; its text is `message`.
pub type Fields = BTreeMap<&'static str, String>;

/// Listens to warnings and errors of the queue, and to calls with batches, from now on. All tests of a process share what is
/// heard, so each must know its own rows by their ids.
pub fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| tracing::subscriber::set_global_default(Listener).unwrap());
}

/// Listens, and returns the first of some ids that no other test of this process has.
#[must_use]
pub fn ids(rows: i64) -> i64 {
    static NEXT: AtomicI64 = AtomicI64::new(1_000_000);
    listen();
    NEXT.fetch_add(rows, Ordering::Relaxed)
}

/// The ids of the rows of which `message` was logged, as they are written for debugging.
#[must_use]
pub fn rows(message: &str) -> Vec<String> {
    let events = EVENTS.lock();
    let of_message =
        events.iter().filter(|fields| fields.get("message").is_some_and(|it| it == message));
    of_message.filter_map(|fields| fields.get("row").cloned()).collect()
}

/// What was logged as `message` of one row.
#[must_use]
pub fn of_row(message: &str, row: i64) -> Vec<Fields> {
    let (events, row) = (EVENTS.lock(), row.to_string());
    let is_it = |fields: &&Fields| {
        fields.get("message").is_some_and(|it| it == message) && fields.get("row") == Some(&row)
    };
    events.iter().filter(is_it).cloned().collect()
}

/// The spans of the calls of a handler of batches.
#[must_use]
pub fn batches(subscription: &str) -> Vec<Fields> {
    let (spans, name) = (BATCHES.lock(), format!("{subscription:?}"));
    spans.iter().filter(|fields| fields.get("subscription") == Some(&name)).cloned().collect()
}

struct Listener;

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let listens = if metadata.is_event() {
            *metadata.level() <= Level::WARN
        } else {
            // What is neither asks whether anybody would listen.
            !metadata.is_span() || metadata.name() == "batch"
        };
        listens && metadata.target().starts_with("queue_table")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Visited(Fields::new());
        span.record(&mut fields);
        BATCHES.lock().push(fields.0);
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Visited(Fields::new());
        event.record(&mut fields);
        EVENTS.lock().push(fields.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Visited(Fields);

impl Visit for Visited {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
}
