//! The futures that the cancellation sweep drops at every point of their way.

/// Every public future of the runtime, as `file stem::fn` (for a `mod.rs` its folder's name).
///
/// `tests/tidy.rs` compares this list with the source in both directions, so that a new public
/// future cannot be left out, and `tests/sweep` makes a trial of each name, which fails if there is
/// no case for it.
pub const SWEEP_LIST: &[&str] = &[
    "settings::connect",
    "connected::shutdown",
    "subscribe::subscribe",
    "stream::next",
    "in_hand::ack",
    "in_hand::discard",
    "in_hand::retry",
    "in_hand::retry_after",
    "message::insert",
    "messages::insert",
    "publisher::publish",
    "service::run",
    "service::start",
    "running::stopped",
    "running::shutdown",
];
