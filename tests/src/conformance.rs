//! One function is one promise; here it becomes a trial on every stand.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use libtest_mimic::{Arguments, Failed};
use tokio::runtime::{self, Runtime};

pub use libtest_mimic::Trial;
pub use sqlx::{Postgres, Sqlite};

use crate::database::{Db, TestDb};
use crate::stands::{Missing, Purpose, Stand, Stands};

/// Each trial has threads of its own and sessions on one server, so more of them only wait.
const TRIALS_AT_ONCE: usize = 4;

/// A trial that hangs fails with its name instead of stopping the run.
const TRIAL_LIMIT: Duration = Duration::from_secs(120);

/// What is left of a trial's tasks gets this long after its end.
const WIND_DOWN: Duration = Duration::from_secs(5);

/// Runs trials on all stands and stops the servers before it returns.
pub fn run(trials: impl FnOnce(&Stands) -> Vec<Trial>) -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(TRIALS_AT_ONCE);
    let purpose = if arguments.list { Purpose::List } else { Purpose::Run };
    let stands = match Stands::discover(purpose) {
        Ok(stands) => stands,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    libtest_mimic::run(&arguments, trials(&stands)).exit_code()
}

/// Makes the function `trials` of a module: each promise named here on each stand.
///
/// `conformance![a, b]` takes promises that are an `async fn a<DB: Db>(db: TestDb<DB>)`, and
/// `conformance![Sqlite: a, b]` promises of one kind of database, an
/// `async fn a(db: TestDb<Sqlite>)`.
///
/// The trials are called `conformance::module::a::postgres15` and so on; where a kind of database
/// has no stand there is one trial `..::postgres`, which is ignored, or fails if the kind is
/// required.
#[macro_export]
macro_rules! conformance {
    ($database:ident: $($promise:ident),+ $(,)?) => {
        pub(crate) fn trials(
            stands: &$crate::stands::Stands,
        ) -> Vec<$crate::conformance::Trial> {
            use $crate::conformance::{name_of, on_every_stand};
            let mut trials = Vec::new();
            $(
                let name = name_of(module_path!(), stringify!($promise));
                trials.extend(on_every_stand::<$database, _, _>(&name, stands, $promise));
            )+
            trials
        }
    };
    ($($promise:ident),+ $(,)?) => {
        pub(crate) fn trials(
            stands: &$crate::stands::Stands,
        ) -> Vec<$crate::conformance::Trial> {
            use $crate::conformance::{Postgres, Sqlite, name_of, on_every_stand};
            let mut trials = Vec::new();
            $(
                let name = name_of(module_path!(), stringify!($promise));
                trials.extend(on_every_stand::<Postgres, _, _>(&name, stands, $promise));
                trials.extend(on_every_stand::<Sqlite, _, _>(&name, stands, $promise));
            )+
            trials
        }
    };
}

/// The test binary, the innermost module and the promise: what lies between says only how a module
/// came to be compiled for one database. What is promised by several claim modes names the mode.
#[must_use]
pub fn name_of(module: &str, promise: &str) -> String {
    let segments: Vec<_> = module.split("::").collect();
    let [binary, within @ ..] = &segments[..] else { return promise.to_owned() };
    let mode = within.iter().filter(|segment| **segment == "row_locks").copied();
    let innermost = within.last().filter(|segment| **segment != "row_locks").copied();
    let named = [*binary].into_iter().chain(mode).chain(innermost).chain([promise]);
    named.collect::<Vec<_>>().join("::")
}

/// One promise on every stand of one kind of database.
pub fn on_every_stand<DB, F, R>(name: &str, stands: &Stands, promise: F) -> Vec<Trial>
where
    DB: Db,
    F: Fn(TestDb<DB>) -> R + Copy + Send + 'static,
    R: Future<Output = ()>,
{
    match stands.of(DB::KIND) {
        Ok(stands) => stands
            .map(|stand| {
                let name = format!("{name}::{}", stand.name);
                let stand = Arc::clone(stand);
                Trial::test(name, move || {
                    keep(&stand, promise);
                    Ok(())
                })
            })
            .collect(),
        Err(Missing { reason, required }) => {
            let name = format!("{name}::{}", DB::KIND);
            let trial = Trial::test(name, move || Err(Failed::from(reason)));
            vec![trial.with_ignored_flag(!required)]
        }
    }
}

/// Gives a promise a database of its own, and removes it whatever comes of the promise.
fn keep<DB, F, R>(stand: &Arc<Stand>, promise: F)
where
    DB: Db,
    F: Fn(TestDb<DB>) -> R,
    R: Future<Output = ()>,
{
    let runtime = runtime();
    let (db, place) = runtime.block_on(TestDb::<DB>::create(Arc::clone(stand)));
    let pool = db.pool().clone();
    let kept = catch_unwind(AssertUnwindSafe(|| {
        runtime.block_on(async {
            let kept = tokio::time::timeout(TRIAL_LIMIT, promise(db)).await;
            assert!(kept.is_ok(), "not at its end after {TRIAL_LIMIT:?}");
            DB::no_transaction_is_left(stand, &place).await;
        });
    }));
    // Closing a pool waits for connections that a failed promise may hold for ever.
    if kept.is_ok() {
        runtime.block_on(pool.close());
    }
    runtime.shutdown_timeout(WIND_DOWN);
    self::runtime().block_on(DB::remove(stand, place));
    if let Err(panic) = kept {
        resume_unwind(panic);
    }
}

fn runtime() -> Runtime {
    runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}
