//! Runs histories, and makes those that fail short.

use std::env;
use std::fmt::Write as _;

use queue_table::__private::lease::IdOn;
use queue_table_tests::database::TestDb;
use queue_table_tests::queue::create_tables;

use super::mutant::Mutant;
use super::server::{Server, Setup, Staged};
use super::shape::Shape;
use super::step::{Step, draw};
use super::world::{World, Wrong};

/// The steps of a history.
const STEPS: usize = 300;

/// How often a history that failed is run again to find a shorter one.
const SHORTER: usize = 300;

/// Which histories are run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) histories: u64,
    pub(crate) mutant: Option<Mutant>,
}

impl Plan {
    /// The histories of every run, or those that the environment asks for.
    pub(crate) fn of_environment() -> Self {
        let number = |name: &str, default: u64| match env::var(name) {
            Ok(text) => {
                let number = text.parse();
                assert!(number.is_ok(), "`{name}={text}` is no number");
                number.unwrap_or(default)
            }
            Err(_) => default,
        };
        Self {
            seed: number("QUEUE_TABLE_MODEL_SEED", 1),
            histories: number("QUEUE_TABLE_MODEL_HISTORIES", 40),
            mutant: Mutant::of_environment(),
        }
    }
}

/// A history that broke a promise, made short.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) seed: u64,
    pub(crate) report: String,
}

/// Runs the histories of a plan until one breaks a promise.
pub(crate) async fn run<DB: Staged, S: Shape>(db: &TestDb<DB>, plan: Plan) -> Option<Finding>
where
    S::Id: IdOn<DB>,
{
    let mut server = on_new_tables::<DB, S>(db).await;
    for seed in plan.seed..plan.seed + plan.histories {
        let mut rng = fastrand::Rng::with_seed(seed);
        let waited = if rng.bool() { 3 } else { 0 };
        let setup = Setup { waited, hostile: seed % 2 == 0 };
        let mut steps = draw(&mut rng, STEPS);
        let Some(mut lines) = broken(&mut server, setup, plan.mutant, &steps).await else {
            continue;
        };
        if plan.mutant.is_none() || Mutant::of_environment().is_some() {
            let mut runs = 0;
            let mut length = steps.len() / 2;
            while length > 0 && runs < SHORTER {
                let mut at = 0;
                while at < steps.len() && runs < SHORTER {
                    let end = steps.len().min(at + length);
                    let without: Vec<_> = [&steps[..at], &steps[end..]].concat();
                    runs += 1;
                    match broken(&mut server, setup, plan.mutant, &without).await {
                        Some(shorter) => (steps, lines) = (without, shorter),
                        None => at = end,
                    }
                }
                length /= 2;
            }
        }
        let mutant = plan.mutant.map(|mutant| format!(" with {mutant}")).unwrap_or_default();
        let table = S::COLUMNS.table;
        let mut report = format!("{table}, QUEUE_TABLE_MODEL_SEED={seed}{mutant}, {setup:?}");
        for line in lines {
            let _ = write!(report, "\n{line}");
        }
        return Some(Finding { seed, report });
    }
    None
}

/// Runs one history.
pub(crate) async fn follow<DB: Staged, S: Shape>(db: &TestDb<DB>, steps: &[Step])
where
    S::Id: IdOn<DB>,
{
    let mut server = on_new_tables::<DB, S>(db).await;
    let setup = Setup { waited: 0, hostile: false };
    if let Some(lines) = broken(&mut server, setup, None, steps).await {
        panic!("{}", lines.join("\n"));
    }
}

async fn on_new_tables<DB: Staged, S: Shape>(db: &TestDb<DB>) -> Server<DB, S>
where
    S::Id: IdOn<DB>,
{
    create_tables(db).await;
    match Server::new(db).await {
        Ok(server) => server,
        Err(error) => panic!("{}", error.0),
    }
}

/// What a history did, if it broke a promise.
async fn broken<DB: Staged, S: Shape>(
    server: &mut Server<DB, S>,
    setup: Setup,
    mutant: Option<Mutant>,
    steps: &[Step],
) -> Option<Vec<String>>
where
    S::Id: IdOn<DB>,
{
    let mut world = match World::new(server, setup, mutant).await {
        Ok(world) => world,
        Err(wrong) => panic!("{wrong:?}"),
    };
    let ran = world.all(steps).await;
    let mut lines = std::mem::take(&mut world.log);
    drop(world);
    // A transaction of the user may be open where the history stopped.
    if let Err(error) = server.unlock().await {
        panic!("{}", error.0);
    }
    match ran {
        Ok(()) => None,
        Err(Wrong::Promise(text)) => {
            lines.push(format!("BROKEN: {text}"));
            Some(lines)
        }
        Err(Wrong::Test(text)) => panic!("{}\n{text}", lines.join("\n")),
    }
}
