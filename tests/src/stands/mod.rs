//! Which databases the tests run on: named in the environment, else found on the machine.
//!
//! `QUEUE_TABLE_STANDS` names servers (`postgres15=URL,postgres18=URL`) and then exactly these are
//! used, so an empty value means none. Without it every PostgreSQL found on the machine is started.
//! `QUEUE_TABLE_REQUIRE_STANDS` (`postgres`) turns a skipped kind into a failed one.

mod postgres;

use std::env;
use std::fmt;
use std::sync::Arc;

use self::postgres::{Binaries, Server};

/// A kind of database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A PostgreSQL server.
    Postgres,
    /// SQLite, which is part of the test binary and so always there.
    Sqlite,
}

impl Kind {
    const ALL: [Self; 2] = [Self::Postgres, Self::Sqlite];

    /// The kind's word in variables and in names of tests.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Postgres => "postgres",
            Self::Sqlite => "sqlite",
        }
    }

    fn named(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
            format!("`{name}` is no kind of database; there are `postgres` and `sqlite`")
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One database that tests run on.
#[derive(Debug)]
pub struct Stand {
    /// Its name in names of tests: `postgres15`, `sqlite`.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// Where it is. SQLite has no server: each test makes a file of its own.
    pub url: String,
}

/// A kind of database that no test can run on.
#[derive(Debug, Clone)]
pub struct Missing {
    /// Why.
    pub reason: String,
    /// Whether `QUEUE_TABLE_REQUIRE_STANDS` names it.
    pub required: bool,
}

/// All stands of this run. Dropping it stops the servers that it started.
#[derive(Debug)]
pub struct Stands {
    stands: Vec<Arc<Stand>>,
    missing: Option<Missing>,
    // Held for its `Drop`.
    _servers: Vec<Server>,
}

/// Whether the tests will run, or only be listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Servers are started.
    Run,
    /// No server is started; names are all that is wanted.
    List,
}

impl Stands {
    /// Finds or starts every database and says on stderr, a line for each kind, what it found.
    ///
    /// # Errors
    ///
    /// A variable that cannot be read; that is a mistake and never a reason to skip.
    pub fn discover(purpose: Purpose) -> Result<Self, String> {
        let required = required(&variable("QUEUE_TABLE_REQUIRE_STANDS")?.unwrap_or_default())?;
        let (mut stands, servers, reason) = match variable("QUEUE_TABLE_STANDS")? {
            Some(named) => {
                (named_stands(&named)?, Vec::new(), "`QUEUE_TABLE_STANDS` names none".to_owned())
            }
            None => found_stands(purpose),
        };
        let missing = stands
            .is_empty()
            .then(|| Missing { reason, required: required.contains(&Kind::Postgres) });
        if purpose == Purpose::Run {
            match &missing {
                None => eprintln!("postgres: {}", names(&stands)),
                Some(Missing { reason, required: false }) => {
                    eprintln!("postgres: SKIPPED: {reason}");
                }
                Some(Missing { reason, required: true }) => {
                    eprintln!("postgres: MISSING: {reason}");
                }
            }
            eprintln!("sqlite: a file for each test");
        }
        stands.push(Stand {
            name: Kind::Sqlite.name().to_owned(),
            kind: Kind::Sqlite,
            url: "sqlite:".to_owned(),
        });
        Ok(Self { stands: stands.into_iter().map(Arc::new).collect(), missing, _servers: servers })
    }

    /// The stands of a kind, or why there is none.
    ///
    /// # Errors
    ///
    /// The reason for which tests of this kind are skipped, or fail.
    pub fn of(&self, kind: Kind) -> Result<impl Iterator<Item = &Arc<Stand>>, Missing> {
        match (&self.missing, kind) {
            (Some(missing), Kind::Postgres) => Err(missing.clone()),
            _ => Ok(self.stands.iter().filter(move |stand| stand.kind == kind)),
        }
    }
}

fn variable(name: &str) -> Result<Option<String>, String> {
    match env::var(name) {
        Ok(value) => Ok(Some(value)),
        Err(env::VarError::NotPresent) => Ok(None),
        Err(env::VarError::NotUnicode(_)) => Err(format!("`{name}` is not UTF-8")),
    }
}

fn names(stands: &[Stand]) -> String {
    let names: Vec<_> =
        stands.iter().map(|stand| format!("{} at {}", stand.name, address(&stand.url))).collect();
    names.join(", ")
}

/// The host and port of a URL: the part that may be printed, unlike the password.
pub(crate) fn address(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?']).next().unwrap_or(rest);
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

fn required(list: &str) -> Result<Vec<Kind>, String> {
    list.split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .map(|name| {
            Kind::named(name).map_err(|error| format!("in `QUEUE_TABLE_REQUIRE_STANDS`: {error}"))
        })
        .collect()
}

fn named_stands(list: &str) -> Result<Vec<Stand>, String> {
    let mut stands: Vec<Stand> = Vec::new();
    for entry in list.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
        let stand =
            named_stand(entry).map_err(|error| format!("in `QUEUE_TABLE_STANDS`: {error}"))?;
        if stands.iter().any(|other| other.name == stand.name) {
            return Err(format!("in `QUEUE_TABLE_STANDS`: `{}` is named twice", stand.name));
        }
        stands.push(stand);
    }
    Ok(stands)
}

fn named_stand(entry: &str) -> Result<Stand, String> {
    let (name, url) =
        entry.split_once('=').ok_or_else(|| format!("`{entry}` is not `name=url`"))?;
    let kind = Kind::named(name.trim_end_matches(|c: char| c.is_ascii_digit()))?;
    if kind == Kind::Sqlite {
        return Err("`sqlite` has no server to name".to_owned());
    }
    Ok(Stand { name: name.to_owned(), kind, url: url.to_owned() })
}

/// Starts what is on the machine. What cannot be started is a reason to skip, like nothing at all.
fn found_stands(purpose: Purpose) -> (Vec<Stand>, Vec<Server>, String) {
    let found = postgres::find();
    if found.is_empty() {
        let reason = format!("no `postgres` in {}, and no `QUEUE_TABLE_STANDS`", postgres::PLACES);
        return (Vec::new(), Vec::new(), reason);
    }
    let mut stands = Vec::new();
    let mut servers = Vec::new();
    let mut reasons = Vec::new();
    for binaries in found {
        let mut add = |url| stands.push(stand_of(&binaries, url));
        if purpose == Purpose::List {
            add(String::new());
            continue;
        }
        match Server::start(&binaries) {
            Ok(server) => {
                add(server.url());
                servers.push(server);
            }
            Err(reason) => {
                eprintln!("postgres{}: could not be started: {reason}", binaries.major());
                reasons.push(reason);
            }
        }
    }
    (stands, servers, reasons.join("; "))
}

fn stand_of(binaries: &Binaries, url: String) -> Stand {
    Stand { name: format!("{}{}", Kind::Postgres, binaries.major()), kind: Kind::Postgres, url }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_before_the_digits_says_the_kind() {
        let stands = named_stands(
            "postgres15=postgres://a@h:1/d, postgres=postgres://h/d?options=-c%20a%3Db,",
        )
        .unwrap();
        let names: Vec<_> = stands.iter().map(|stand| (stand.name.as_str(), stand.kind)).collect();
        assert_eq!(names, [("postgres15", Kind::Postgres), ("postgres", Kind::Postgres)]);
        assert_eq!(stands[1].url, "postgres://h/d?options=-c%20a%3Db");
    }

    #[test]
    fn what_cannot_be_read_is_an_error_and_no_skip() {
        for (list, error) in [
            (
                "oracle9=x",
                "in `QUEUE_TABLE_STANDS`: `oracle` is no kind of database; there are `postgres` and `sqlite`",
            ),
            ("postgres15", "in `QUEUE_TABLE_STANDS`: `postgres15` is not `name=url`"),
            ("sqlite=x.db", "in `QUEUE_TABLE_STANDS`: `sqlite` has no server to name"),
            ("postgres1=a,postgres1=b", "in `QUEUE_TABLE_STANDS`: `postgres1` is named twice"),
        ] {
            assert_eq!(named_stands(list).unwrap_err(), error);
        }
        assert!(required("postgres, oracle").is_err());
    }

    #[test]
    fn no_password_is_printed() {
        for (url, printed) in [
            ("postgres://me:secret@127.0.0.1:5432/db", "127.0.0.1:5432"),
            ("postgres://h/db?password=secret@x", "h"),
        ] {
            assert_eq!(address(url), printed);
        }
    }
}
