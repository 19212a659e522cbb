//! The words of a table's declaration, and what other systems call them.

use heck::ToSnakeCase;
use proc_macro2::Ident;
use syn::ext::IdentExt;

use crate::keys::Vocabulary;

pub(crate) const TABLE_KEYS: Vocabulary = Vocabulary {
    noun: "table key",
    known: &["name", "schema"],
    not_yet: &[(
        "advisory_lock",
        "mark a lease column: `#[queue(locked_until)] locked_until: Option<chrono::DateTime<chrono::Utc>>`",
    )],
    synonyms: &[
        ("name", &["table", "table_name", "queue", "queue_name", "rename", "topic", "stream"]),
        ("schema", &["database", "db", "namespace", "schema_name"]),
        ("advisory_lock", &["advisory", "advisory_key", "lock_key"]),
    ],
    elsewhere: &[
        (
            &[
                "id",
                "group",
                "attempt",
                "attempts",
                "retry_after",
                "locked_until",
                "processed_at",
                "last_error",
                "payload",
                "fifo",
                "priority",
                "headers",
            ],
            "roles stand on fields: `#[queue(id)]`",
        ),
        (&["rename_all"], "write `#[sqlx(rename_all = \"camelCase\")]`"),
        (
            &["max_attempts", "retries", "max_retries", "dead_letter", "dead_letter_queue", "dlq"],
            "a subscriber sets it: `max_attempts = 5, dead_letter(group = \"failed\")`",
        ),
        (&["workers", "concurrency"], "a subscriber sets it: `workers = 16`"),
        (&["lease", "visibility_timeout"], "a subscriber sets it: `lease = \"30s\"`"),
        (&["timeout"], "a subscriber sets it: `timeout = \"10s\"`"),
        (&["poll_interval"], "a subscriber sets it: `poll_interval = \"1s\"`"),
    ],
};

pub(crate) const ROLES: Vocabulary = Vocabulary {
    noun: "column role",
    known: &[
        "id",
        "group",
        "attempt",
        "retry_after",
        "locked_until",
        "processed_at",
        "last_error",
        "payload",
    ],
    not_yet: &[
        ("fifo", "without `#[queue(fifo)]` the field is a data column"),
        ("priority", "without `#[queue(priority)]` the field is a data column"),
        ("headers", "without `#[queue(headers)]` the field is a data column"),
    ],
    synonyms: &[
        ("id", &["primary_key", "pk", "key", "message_id", "job_id"]),
        ("group", &["queue", "queue_name", "topic", "channel", "kind", "subject"]),
        (
            "attempt",
            &["retries", "retry_count", "tries", "deliveries", "delivery_count", "read_ct"],
        ),
        (
            "retry_after",
            &[
                "delay",
                "delay_until",
                "delayed_until",
                "not_before",
                "run_at",
                "scheduled_at",
                "scheduled_for",
                "available_at",
                "visible_at",
                "visible_after",
                "backoff",
                "due",
                "due_at",
                "next_attempt_at",
                "eta",
            ],
        ),
        (
            "locked_until",
            &[
                "lease",
                "lease_until",
                "leased_until",
                "visibility_timeout",
                "vt",
                "lock",
                "locked",
                "locked_at",
                "reserved_at",
                "reserved_until",
                "invisible_until",
            ],
        ),
        (
            "processed_at",
            &["processed", "done_at", "finished_at", "completed_at", "acked_at", "deleted_at"],
        ),
        ("last_error", &["error", "errors", "failure", "reason"]),
        ("payload", &["body", "message", "data", "job", "args", "content"]),
        (
            "fifo",
            &["fifo_key", "ordering_key", "partition_key", "message_group", "message_group_id"],
        ),
        ("priority", &["prio", "weight", "rank"]),
        ("headers", &["header", "metadata", "meta", "attributes", "properties"]),
    ],
    elsewhere: &[
        (
            &["name", "column", "rename", "column_name"],
            "the column's name is sqlx's: `#[sqlx(rename = \"other_name\")]`",
        ),
        (&["skip", "ignore"], "sqlx skips a field: `#[sqlx(skip)]`"),
        (
            &["max_attempts", "max_retries", "dead_letter", "dead_letter_queue", "dlq"],
            "a subscriber sets it: `max_attempts = 5, dead_letter(group = \"failed\")`",
        ),
        (&["workers", "concurrency"], "a subscriber sets it: `workers = 16`"),
    ],
};

/// A likely table name, for a help text: `EmailJob` is kept in `email_jobs`.
pub(crate) fn table_name(row: &Ident) -> String {
    format!("{}s", row.unraw().to_string().to_snake_case())
}
