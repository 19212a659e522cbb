//! Throw-away PostgreSQL servers from the binaries of this machine.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{MetadataExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;
use std::{env, thread};

use tempfile::TempDir;

/// Where [`find`] looks, for the line that says that nothing was found.
pub(super) const PLACES: &str = "`PATH` or /usr/lib/postgresql/*/bin";

const DEBIAN: &str = "/usr/lib/postgresql";

const START_LIMIT: Duration = Duration::from_secs(60);

/// The binaries of one version.
#[derive(Debug)]
pub(super) struct Binaries {
    major: u32,
    folder: PathBuf,
}

impl Binaries {
    pub(super) fn major(&self) -> u32 {
        self.major
    }

    /// What lies in `folder`, if that is a whole server: Debian's `PATH` may hold only a part.
    fn within(folder: &Path) -> Option<Self> {
        let postgres = fs::canonicalize(folder.join("postgres")).ok()?;
        let folder = postgres.parent()?.to_owned();
        if !["initdb", "pg_ctl"].iter().all(|name| folder.join(name).is_file()) {
            return None;
        }
        let output = Command::new(&postgres).arg("--version").output().ok()?;
        let major = major_of(&String::from_utf8_lossy(&output.stdout))?;
        Some(Self { major, folder })
    }
}

/// The 15 of `postgres (PostgreSQL) 15.13 (Debian 15.13-0+deb12u1)`, and the 19 of `.. 19beta1`.
fn major_of(version: &str) -> Option<u32> {
    let number = version.split_once(") ")?.1;
    let digits = number.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

/// Every version on this machine once, oldest first.
pub(super) fn find() -> Vec<Binaries> {
    let path = env::var_os("PATH").unwrap_or_default();
    let debian = fs::read_dir(DEBIAN).into_iter().flatten().flatten();
    let mut found: Vec<_> = env::split_paths(&path)
        .chain(debian.map(|version| version.path().join("bin")))
        .filter_map(|folder| Binaries::within(&folder))
        .collect();
    found.sort_by_key(|binaries| binaries.major);
    found.dedup_by_key(|binaries| binaries.major);
    found
}

/// Whom PostgreSQL runs as: it refuses root.
#[derive(Debug, Clone, Copy)]
enum User {
    Myself,
    Nobody { uid: u32, gid: u32 },
}

impl User {
    fn pick(folder: &Path) -> Result<Self, String> {
        let mine = fs::metadata(folder).map_err(|error| error.to_string())?.uid();
        if mine != 0 {
            return Ok(Self::Myself);
        }
        let users =
            fs::read_to_string("/etc/passwd").map_err(|error| format!("/etc/passwd: {error}"))?;
        users
            .lines()
            .find_map(|line| {
                let mut fields = line.strip_prefix("nobody:")?.split(':').skip(1);
                let uid = fields.next()?.parse().ok()?;
                let gid = fields.next()?.parse().ok()?;
                Some(Self::Nobody { uid, gid })
            })
            .ok_or_else(|| "PostgreSQL refuses root, and there is no user `nobody`".to_owned())
    }

    /// A command that ends with this process even if nothing here is dropped, where the system has
    /// `setpriv`: a killed test run leaves no server behind.
    fn command(self, program: &Path, folder: &Path) -> Command {
        let mut command = match self {
            Self::Nobody { uid, gid } => {
                let mut command = setpriv();
                command
                    .arg(format!("--reuid={uid}"))
                    .arg(format!("--regid={gid}"))
                    .arg("--clear-groups");
                command.arg("--").arg(program);
                command
            }
            Self::Myself if has_setpriv() => {
                let mut command = setpriv();
                command.arg("--").arg(program);
                command
            }
            Self::Myself => Command::new(program),
        };
        command.current_dir(folder).env("LC_ALL", "C").env("TZ", "UTC").stdin(Stdio::null());
        command
    }

    fn owns(self, folder: &Path) -> io::Result<()> {
        match self {
            Self::Myself => Ok(()),
            Self::Nobody { uid, gid } => chown(folder, Some(uid), Some(gid)),
        }
    }

    /// Whether every folder on the way to `folder` is open to this user.
    fn can_enter(self, folder: &Path) -> Result<(), String> {
        let mut command = self.command(Path::new("test"), Path::new("/"));
        let output = command.arg("-w").arg(folder).output();
        let output = output
            .map_err(|error| format!("PostgreSQL refuses root, and `setpriv` failed: {error}"))?;
        if output.status.success() {
            return Ok(());
        }
        Err(format!("{} is closed to `nobody`", folder.display()))
    }
}

fn setpriv() -> Command {
    let mut command = Command::new("setpriv");
    command.arg("--pdeathsig=INT");
    command
}

fn has_setpriv() -> bool {
    setpriv().arg("true").output().is_ok_and(|output| output.status.success())
}

/// A server that runs until this value is dropped.
#[derive(Debug)]
pub(super) struct Server {
    postgres: Child,
    user: User,
    port: u16,
    pg_ctl: PathBuf,
    folder: TempDir,
}

impl Server {
    /// Starts a server with a new data folder on a free port of the loopback interface.
    ///
    /// Call it on the main thread: the server ends with the thread that started it.
    pub(super) fn start(binaries: &Binaries) -> Result<Self, String> {
        let (folder, user) = data_folder()?;
        init(binaries, user, folder.path())?;
        // Another process may take the port between the look and the start.
        let mut attempt = 1;
        let (postgres, port) = loop {
            match launch(binaries, user, folder.path()) {
                Err(log) if attempt < 3 && log.contains("Address already in use") => attempt += 1,
                launched => break launched?,
            }
        };
        Ok(Self { postgres, user, port, pg_ctl: binaries.folder.join("pg_ctl"), folder })
    }

    pub(super) fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let mut stop = self.user.command(&self.pg_ctl, self.folder.path());
        stop.args(["stop", "--silent", "--mode=immediate", "--pgdata"]).arg(self.folder.path());
        // A kill would leave the server's shared memory segment behind, so it is the second choice.
        if !stop.output().is_ok_and(|output| output.status.success()) {
            let _ = self.postgres.kill();
        }
        let _ = self.postgres.wait();
    }
}

/// A folder that the server's user owns and can reach; root's temporary folder may be closed to it.
fn data_folder() -> Result<(TempDir, User), String> {
    let mut reason = String::new();
    for parent in [env::temp_dir(), PathBuf::from("/tmp"), PathBuf::from("/var/tmp")] {
        let made = tempfile::Builder::new().prefix("queue-table-stand-").tempdir_in(&parent);
        let folder = match made {
            Ok(folder) => folder,
            Err(error) => {
                reason = format!("{}: {error}", parent.display());
                continue;
            }
        };
        let user = User::pick(folder.path())?;
        user.owns(folder.path()).map_err(|error| error.to_string())?;
        match user.can_enter(folder.path()) {
            Ok(()) => return Ok((folder, user)),
            Err(closed) => reason = closed,
        }
    }
    Err(reason)
}

fn init(binaries: &Binaries, user: User, folder: &Path) -> Result<(), String> {
    let mut command = user.command(&binaries.folder.join("initdb"), folder);
    command
        .args([
            "--no-sync",
            "--auth=trust",
            "--username=postgres",
            "--encoding=UTF8",
            "--locale=C",
            "--pgdata",
        ])
        .arg(folder);
    let output = command.output().map_err(|error| format!("initdb: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("initdb: {}", String::from_utf8_lossy(&output.stderr).trim()))
}

/// Starts the server and returns it with its port once it accepts connections, else its log.
fn launch(binaries: &Binaries, user: User, folder: &Path) -> Result<(Child, u16), String> {
    let port = free_port().map_err(|error| format!("no free port: {error}"))?;
    let mut command = user.command(&binaries.folder.join("postgres"), folder);
    command.arg("-D").arg(folder).arg("-p").arg(port.to_string());
    // Nothing here survives the machine, so nothing waits for the disk. A commit still reaches the
    // kernel before it is answered: a killed server loses none.
    for setting in [
        "listen_addresses=127.0.0.1",
        "unix_socket_directories=",
        "max_connections=200",
        "fsync=off",
        "full_page_writes=off",
        "timezone=UTC",
    ] {
        command.arg("-c").arg(setting);
    }
    let spawned = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let mut postgres = spawned.map_err(|error| format!("postgres: {error}"))?;
    let log = postgres.stderr.take().unwrap_or_else(|| unreachable!("stderr is piped"));
    match until_ready(log, &folder.join("log")) {
        Ok(()) => Ok((postgres, port)),
        Err(log) => {
            let _ = postgres.kill();
            let _ = postgres.wait();
            Err(log)
        }
    }
}

fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// Reads the log up to the line that says ready, and goes on writing it to `file` in the background.
fn until_ready(log: ChildStderr, file: &Path) -> Result<(), String> {
    let mut file = File::create(file).map_err(|error| error.to_string())?;
    let mut log = BufReader::new(log);
    let (ready, wait) = mpsc::channel();
    thread::spawn(move || {
        let mut lines = String::new();
        while !lines.contains("ready to accept connections") {
            if !matches!(log.read_line(&mut lines), Ok(1..)) {
                let _ = ready.send(Err(lines));
                return;
            }
        }
        let _ = ready.send(Ok(()));
        let _ = io::copy(&mut log, &mut file);
    });
    wait.recv_timeout(START_LIMIT)
        .unwrap_or_else(|_| Err(format!("not ready within {START_LIMIT:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_major_version_is_read_from_what_the_server_says() {
        for (version, major) in [
            ("postgres (PostgreSQL) 15.13 (Debian 15.13-0+deb12u1)\n", Some(15)),
            ("postgres (PostgreSQL) 18.1\n", Some(18)),
            ("postgres (PostgreSQL) 19beta1\n", Some(19)),
            ("", None),
        ] {
            assert_eq!(major_of(version), major, "{version}");
        }
    }
}
