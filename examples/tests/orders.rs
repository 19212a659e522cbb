//! What the orders example promises: orders of its web server and of another process are confirmed,
//! and a signal ends it in order.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, ExitCode, Stdio};

use queue_table_tests::conformance::{self, Postgres, on_every_stand};
use queue_table_tests::database::TestDb;
use queue_table_tests::eventually::eventually;

fn main() -> ExitCode {
    conformance::run(|stands| {
        on_every_stand::<Postgres, _, _>("orders_are_confirmed", stands, orders_are_confirmed)
    })
}

/// A process that does not outlive its test.
struct Service(Child);

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts the service on a port that is free, and returns where it listens.
fn start(db: &TestDb<Postgres>) -> (Service, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_orders"));
    command.env("DATABASE_URL", db.url()).env("LISTEN", "127.0.0.1:0").stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let service = Service(child);
    let said = lines.next().unwrap().unwrap();
    let address = said.strip_prefix("listening on http://");
    let address = address.unwrap_or_else(|| panic!("the service said `{said}`")).to_owned();
    // What it says later must find a reader, or it would stop.
    std::thread::spawn(move || lines.for_each(drop));
    (service, address)
}

/// Sends a request and returns the answer.
fn ask(address: &str, request: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    write!(
        stream,
        "{request} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

async fn orders_are_confirmed(db: TestDb<Postgres>) {
    let (mut service, address) = start(&db);
    let taken = ask(&address, "POST /orders", r#"{"customer": "Ada", "cents": 1200}"#);
    assert!(taken.starts_with("HTTP/1.1 202"), "{taken}");

    let mut producer = Command::new(env!("CARGO_BIN_EXE_orders-producer"));
    let produced = producer.arg("20").env("DATABASE_URL", db.url()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&produced.stdout), "20 orders are written\n");

    eventually("all are confirmed", async || {
        ask(&address, "GET /", "").ends_with(r#"{"orders":21,"confirmed":21}"#)
    })
    .await;
    eventually("their rows are gone", async || {
        db.value::<i64>("SELECT count(*) FROM order_jobs").await == 0
    })
    .await;

    let killed = Command::new("kill").args(["-TERM", &service.0.id().to_string()]).status();
    assert!(killed.unwrap().success());
    let status = service.0.wait().unwrap();
    assert!(status.success(), "{status}");
    assert!(TcpStream::connect(&address).is_err(), "nobody listens any more");
}
