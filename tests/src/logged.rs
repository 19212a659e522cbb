//! What the queue logged in this process, for promises about the log.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Once;

use parking_lot::Mutex;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

static EVENTS: Mutex<Vec<Fields>> = Mutex::new(Vec::new());

/// The fields of an event, by name; its text is `message`.
type Fields = BTreeMap<&'static str, String>;

/// Listens to warnings and errors of the queue from now on. All tests of a process share what is
/// heard, so each must know its own rows by their ids.
pub fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| tracing::subscriber::set_global_default(Listener).unwrap());
}

/// The ids of the rows of which `message` was logged, as they are written for debugging.
#[must_use]
pub fn rows(message: &str) -> Vec<String> {
    let events = EVENTS.lock();
    let of_message =
        events.iter().filter(|fields| fields.get("message").is_some_and(|it| it == message));
    of_message.filter_map(|fields| fields.get("row").cloned()).collect()
}

struct Listener;

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event()
            && metadata.target().starts_with("queue_table")
            && *metadata.level() <= Level::WARN
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
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
