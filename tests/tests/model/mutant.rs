//! Seeded mistakes: the model must find each of them.

use std::env;
use std::fmt;

use super::shape::Columns;

/// A mistake in a statement, or in how the state machine is driven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mutant {
    /// Settlements and renewals do not ask for the token.
    NoToken,
    /// A give-back writes null, where it writes a token.
    NullToken,
    /// A claim's subquery stands under `IN`, so that a plan may run it again and again.
    InForAny,
    /// A delivery whose statement gave no answer is released before it was looked up.
    ReleaseUnknown,
    /// A settlement without an answer counts as one that left its rows out.
    ForgetUnknown,
    /// A renewal writes now + lease, even if that is earlier than the lease before.
    NoTick,
}

impl Mutant {
    pub(crate) const ALL: [Self; 6] = [
        Self::NoToken,
        Self::NullToken,
        Self::InForAny,
        Self::ReleaseUnknown,
        Self::ForgetUnknown,
        Self::NoTick,
    ];

    /// The value of `QUEUE_TABLE_MUTANT`.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::NoToken => "no_token",
            Self::NullToken => "null_token",
            Self::InForAny => "in_for_any",
            Self::ReleaseUnknown => "release_unknown",
            Self::ForgetUnknown => "forget_unknown",
            Self::NoTick => "no_tick",
        }
    }

    /// The mutant that `QUEUE_TABLE_MUTANT` names.
    pub(crate) fn of_environment() -> Option<Self> {
        let name = env::var("QUEUE_TABLE_MUTANT").ok().filter(|name| !name.is_empty())?;
        let known = Self::ALL.into_iter().find(|mutant| mutant.name() == name);
        assert!(known.is_some(), "`QUEUE_TABLE_MUTANT={name}` is none of {:?}", Self::ALL);
        known
    }

    /// The text of the statement `name` with the mistake in it.
    pub(crate) fn change(self, name: &str, sql: &str, columns: &Columns) -> String {
        let lease = format!("\"{}\"", columns.lease);
        let owns = name != "look" && !name.starts_with("claim");
        match self {
            // A delete compares rows of values, and an update each of them.
            Self::NoToken if sql.contains("SELECT id, token") => {
                sql.replace(&format!(", j.{lease}"), "").replace("SELECT id, token", "SELECT id")
            }
            Self::NoToken if owns => sql
                .replace(&format!("c.{lease} = u.token"), "true")
                .replace(&format!("j.{lease} = u.token"), "true"),
            Self::NullToken if name == "give_back" => {
                let set = format!("SET {lease} = ");
                let (before, from) = sql.split_once(&set).unwrap_or((sql, ""));
                let end = from.find([',', '\n']).unwrap_or(from.len());
                let (value, after) = from.split_at(end);
                // The value stays in the text, because its parameter is bound.
                format!("{before}{set}CASE WHEN false THEN {value} END{after}")
            }
            // A row alone is named by its id however often it is looked up.
            Self::InForAny if name.starts_with("claim") && name != "claim_one" => {
                sql.replace("= ANY (ARRAY (", "IN (").replace("SKIP LOCKED))", "SKIP LOCKED)")
            }
            Self::NoTick if name == "renew" => sql
                .replace(&format!(", j.{lease} + interval '1 microsecond')"), ")")
                .replace(&format!(", j.{lease} + 1)"), ")")
                // `max` of one value would be the aggregate.
                .replace("max(?, u.next)", "?"),
            _ => sql.to_owned(),
        }
    }
}

impl fmt::Display for Mutant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
