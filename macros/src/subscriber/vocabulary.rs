//! The words of a subscriber's attribute, and what other systems call them.

use crate::keys::Vocabulary;

pub(crate) const KEYS: Vocabulary = Vocabulary {
    noun: "subscriber key",
    known: &[
        "group",
        "workers",
        "batch",
        "poll_interval",
        "lease",
        "timeout",
        "max_attempts",
        "dead_letter",
        "on_error",
        "on_decode_failure",
    ],
    not_yet: &[("transactional", "remove it, and write through a pool: `pool: State<Pool>`")],
    synonyms: &[
        ("group", &["queue", "queue_name", "topic", "channel", "kind", "subject", "stream"]),
        (
            "workers",
            &[
                "concurrency",
                "max_concurrency",
                "concurrent",
                "parallelism",
                "parallel",
                "prefetch",
                "max_in_flight",
                "max_inflight",
                "threads",
                "limit",
            ],
        ),
        ("poll_interval", &["poll", "interval", "poll_every", "polling_interval", "poll_ms"]),
        (
            "lease",
            &[
                "visibility_timeout",
                "visibility",
                "vt",
                "lock_timeout",
                "lock_duration",
                "lock_ttl",
                "ack_wait",
                "ack_deadline",
                "lease_duration",
                "lease_time",
            ],
        ),
        (
            "timeout",
            &["deadline", "job_timeout", "max_duration", "time_limit", "execution_timeout"],
        ),
        (
            "max_attempts",
            &[
                "retries",
                "max_retries",
                "retry",
                "attempts",
                "tries",
                "max_tries",
                "max_deliver",
                "max_deliveries",
                "max_receive_count",
            ],
        ),
        (
            "dead_letter",
            &["dlq", "dlx", "dead_letter_queue", "dead_letter_group", "deadletter", "dead_letters"],
        ),
        ("on_error", &["error_handler", "on_failure", "on_err", "map_err", "handle_error"]),
        (
            "on_decode_failure",
            &["on_decode_error", "on_deserialize_error", "on_parse_error", "on_poison", "poison"],
        ),
        ("batch", &["batch_size", "max_batch", "bulk", "chunk", "batch_max"]),
        ("transactional", &["transaction", "tx", "in_transaction", "exactly_once"]),
    ],
    elsewhere: &[
        (
            &[
                "backoff",
                "back_off",
                "retry_delay",
                "retry_after",
                "delay",
                "retry_policy",
                "retry_in",
            ],
            "the handler chooses: `Outcome::retry_after(std::time::Duration::from_secs(60))`",
        ),
        (
            &[
                "id",
                "attempt",
                "locked_until",
                "processed_at",
                "last_error",
                "payload",
                "fifo",
                "priority",
                "headers",
            ],
            "roles stand on the fields of the row: `#[queue(id)]`",
        ),
        (&["table", "row"], "the row type stands first, without a key"),
        (&["name"], "a subscriber is called as its function"),
    ],
};

/// What stands in `dead_letter(..)`.
pub(crate) const DEAD_LETTER: Vocabulary = Vocabulary {
    noun: "place for dead letters",
    known: &["group", "table"],
    not_yet: &[],
    synonyms: &[
        ("group", &["queue", "name", "topic", "channel", "kind"]),
        ("table", &["row", "into", "to"]),
    ],
    elsewhere: &[],
};

/// What stands after `on_decode_failure =`.
pub(crate) const DECODE_FAILURES: Vocabulary = Vocabulary {
    noun: "way to settle an undecodable row",
    known: &["drop", "retry", "retry_after", "dead_letter"],
    not_yet: &[],
    synonyms: &[
        ("drop", &["ack", "skip", "ignore", "delete", "discard", "reject"]),
        ("retry", &["nack", "requeue", "again"]),
        ("retry_after", &["delay", "later", "backoff"]),
        ("dead_letter", &["dlq", "dead", "fail", "dead_letter_queue"]),
    ],
    elsewhere: &[],
};
