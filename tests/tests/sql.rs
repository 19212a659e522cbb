//! Every statement of every shape of table, as it was reviewed.
//!
//! `UPDATE_GOLDEN=1 cargo test -p queue-table-tests --test sql` writes the files anew.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

use queue_table::__private::lease::{
    ClaimFrom, Dialect, Event, LeaseStatements, MAX_LEFT_OUT, Many, Plan,
};
use queue_table_tests::conformance::{Postgres, Sqlite};
use queue_table_tests::database::Db;
use queue_table_tests::shapes::{Shape, rendered, shapes};
use queue_table_tests::source::root;

fn update() -> bool {
    env::var_os("UPDATE_GOLDEN").is_some_and(|value| value == "1")
}

/// A moved clock is bound on SQLite like every other, so that it has no statements of its own.
fn has_shape<DB: Db>(shape: &Shape) -> bool {
    DB::KIND == Postgres::KIND || shape.name != "moved_clock"
}

/// Every file that must be there, with its text.
fn expected<DB: Db>() -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    for shape in shapes().iter().filter(|shape| has_shape::<DB>(shape)) {
        let folder = shape.folder::<DB>();
        for statement in rendered::<DB>(shape) {
            files.push((folder.join(format!("{}.sql", statement.name)), statement.file()));
        }
    }
    files
}

#[test]
fn every_statement_is_as_it_was_reviewed() {
    let mut changed = Vec::new();
    for (path, text) in [expected::<Postgres>(), expected::<Sqlite>()].concat() {
        let reviewed = fs::read_to_string(&path).unwrap_or_default();
        if reviewed == text {
            continue;
        }
        if update() {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
        } else {
            changed.push(format!("{}\n{}", shown(&path), difference(&reviewed, &text)));
        }
    }
    assert!(
        changed.is_empty(),
        "{}\n{} statements are not as reviewed (-); review what is sent (+), then run this with \
         UPDATE_GOLDEN=1",
        changed.join("\n"),
        changed.len(),
    );
}

#[test]
fn no_file_is_left_of_a_statement_that_is_gone() {
    let mut wanted = BTreeSet::new();
    wanted.extend([expected::<Postgres>(), expected::<Sqlite>()].concat().into_iter().map(|f| f.0));
    wanted.extend(shapes().iter().flat_map(|shape| {
        let folders = [shape.folder::<Postgres>(), shape.folder::<Sqlite>()];
        let by_hand = ["table.sql", "dead_letters.sql"];
        folders.map(|folder| by_hand.map(|file| folder.join(file))).into_iter().flatten()
    }));
    let mut files = Vec::new();
    collect(&root().join("tests/sql"), &mut files);
    let orphans: Vec<_> = files.iter().filter(|file| !wanted.contains(*file)).collect();
    if update() {
        orphans.iter().for_each(|orphan| fs::remove_file(orphan).unwrap());
        return;
    }
    let orphans: Vec<_> = orphans.into_iter().map(|orphan| shown(orphan)).collect();
    assert!(orphans.is_empty(), "no shape has these statements\n  {}", orphans.join("\n  "));
}

#[test]
fn a_padded_statement_differs_only_in_the_number_of_its_rows() {
    for shape in shapes() {
        let dialect = <Sqlite as queue_table::Backend>::dialect(shape.clock);
        let statements = LeaseStatements::new(&dialect, &shape.names(), None).unwrap();
        let except = statements.claims_except.at(ClaimFrom::Start);
        let Some(Plan::One(ack)) = statements.settle(Event::Ack) else { panic!("one statement") };
        for many in [except, ack, &statements.renew, &statements.look] {
            let Many::Padded(texts) = many else { panic!("SQLite has no arrays") };
            let (one, _) = many.for_rows(1);
            let (head, rest) = one.text().split_once("VALUES ").unwrap();
            let (row, tail) = rest.split_at(rest.find(')').unwrap() + 1);
            for (log2, padded) in texts.iter().enumerate() {
                let rows = vec![row; 1 << log2].join(", ");
                assert_eq!(**padded.text(), format!("{head}VALUES {rows}{tail}"));
            }
        }
    }
}

#[test]
fn a_claim_leaves_out_as_many_rows_as_there_may_be() {
    fn all<DB: Db>(shape: &Shape) {
        let dialect = DB::dialect(shape.clock);
        let excepts = ClaimFrom::ALL.into_iter();
        for except in excepts.filter_map(|from| dialect.claim_except(&shape.names(), from)) {
            for rows in 1..=MAX_LEFT_OUT {
                assert!(except.for_rows(rows).1 >= rows);
            }
        }
    }
    for shape in shapes() {
        all::<Postgres>(&shape);
        all::<Sqlite>(&shape);
    }
}

#[test]
fn a_changed_statement_is_shown_with_its_difference() {
    let difference = difference("a\nb\nc\n", "a\nx\nc\nd\n");
    assert_eq!(difference, "    a\n  - b\n  + x\n    c\n  + d");
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => collect(&path, files),
            false => files.push(path),
        }
    }
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// The lines of both texts, in order: `-` where only the old one has it, `+` where only the new one.
fn difference(old: &str, new: &str) -> String {
    let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
    // How many lines the rests of both texts have in common, from each pair of lines on.
    let mut common = vec![vec![0; new.len() + 1]; old.len() + 1];
    for (o, line) in old.iter().enumerate().rev() {
        for n in (0..new.len()).rev() {
            common[o][n] = match *line == new[n] {
                true => common[o + 1][n + 1] + 1,
                false => common[o + 1][n].max(common[o][n + 1]),
            };
        }
    }
    let (mut o, mut n) = (0, 0);
    let mut lines = Vec::new();
    while o < old.len() || n < new.len() {
        if o < old.len() && n < new.len() && old[o] == new[n] {
            lines.push(format!("    {}", old[o]));
            (o, n) = (o + 1, n + 1);
        } else if n == new.len() || (o < old.len() && common[o + 1][n] >= common[o][n + 1]) {
            lines.push(format!("  - {}", old[o]));
            o += 1;
        } else {
            lines.push(format!("  + {}", new[n]));
            n += 1;
        }
    }
    lines.join("\n")
}
