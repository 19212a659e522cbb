//! The work in a process of its own, which is killed on the way.

use std::env;
use std::ffi::OsStr;
use std::io;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use queue_table::CancellationToken;
use tokio::process::{Child, ChildStdin, Command};

use crate::Result;
use crate::arguments::WORK;
use crate::database::Database;
use crate::progress::Progress;
use crate::summary::Counts;
use crate::work::work;

/// How often to look how far the child is: often enough to meet the moment of the kill.
const LOOK: Duration = Duration::from_millis(10);

/// Has a child do the work, kills it with `-9` when `kill_after` events are stored, and has a second
/// one do the rest.
pub(crate) async fn work_in_children(
    database: &Database,
    address: &OsStr,
    kill_after: u64,
    stop: &CancellationToken,
    progress: &mut Progress,
) -> Result<()> {
    let (mut child, mut input) = spawn(address)?;
    let mut killed = false;
    let mut look = tokio::time::interval(LOOK);
    loop {
        tokio::select! {
            status = child.wait() => {
                let status = status?;
                if !status.success() {
                    return Err(format!("the process that did the work failed: {status}").into());
                }
                if !killed && !stop.is_cancelled() {
                    progress.note(&format!(
                        "the work was done before {kill_after} events were seen: nothing was killed"
                    ));
                }
                return Ok(());
            }
            // An end of its input tells the child to stop.
            () = stop.cancelled(), if input.is_some() => input = None,
            _ = look.tick() => {
                let counts = Counts::of(database).await?;
                progress.show(&counts);
                if !killed && counts.stored >= kill_after && !stop.is_cancelled() {
                    child.kill().await?;
                    killed = true;
                    let Counts { stored, .. } = Counts::of(database).await?;
                    progress.note(&format!("killed the worker with -9 after {stored} events, and \
                                            started it again"));
                    (child, input) = spawn(address)?;
                }
            }
        }
    }
}

/// Starts a child, and returns its input beside it: waiting for a child closes the input it holds.
fn spawn(address: &OsStr) -> Result<(Child, Option<ChildStdin>)> {
    let mut command = Command::new(env::current_exe()?);
    command.args([OsStr::new(WORK), address]).stdin(Stdio::piped()).kill_on_drop(true);
    // Ctrl-C at a terminal goes to a whole group of processes, and here one of them decides.
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command.spawn()?;
    let input = child.stdin.take();
    Ok((child, input))
}

/// What the child does: the work, until nothing is left, or the parent says stop or is gone.
pub(crate) async fn be(address: &OsStr) -> Result<()> {
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    // A thread that nobody waits for, because a read from the input cannot be cancelled.
    thread::spawn(move || {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        stopped.cancel();
    });
    let database = Database::open(address).await?;
    work(&database, &stop, |_| {}).await?;
    database.close().await;
    Ok(())
}
