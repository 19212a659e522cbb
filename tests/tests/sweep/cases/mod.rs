//! What is swept, on one kind of database: this folder is compiled once for each.

use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use queue_table::Delivery;
use queue_table_tests::conformance::{Trial, on_every_stand};
use queue_table_tests::database::TestDb;
use queue_table_tests::stands::Stands;
use queue_table_tests::sweep_list::SWEEP_LIST;

use super::Database;

mod brokers;
mod deliveries;
mod ground;
mod handlers;
mod publishes;
mod services;

/// What is in the table after a settlement: each counts to 1.
const NO_ROW: &str = "SELECT CASE WHEN count(*) = 0 THEN 1 ELSE 0 END FROM jobs";
const FREE: &str = "SELECT count(*) FROM jobs WHERE attempt = 2 AND locked_until IS NULL";
const PUT_OFF: &str = "SELECT count(*) FROM jobs WHERE attempt = 2 AND locked_until IS NULL \
    AND retry_after IS NOT NULL";

type Case = fn(TestDb<Database>) -> LocalBoxFuture<'static, ()>;

/// How each future of the list is swept.
const CASES: [(&str, Case); 15] = [
    ("settings::connect", |db| Box::pin(brokers::connect(db))),
    ("connected::shutdown", |db| Box::pin(brokers::shutdown(db))),
    ("subscribe::subscribe", |db| Box::pin(deliveries::subscribe(db))),
    ("stream::next", |db| Box::pin(deliveries::next(db))),
    ("in_hand::ack", |db| Box::pin(deliveries::settle(db, Delivery::ack, NO_ROW))),
    ("in_hand::discard", |db| Box::pin(deliveries::settle(db, Delivery::discard, NO_ROW))),
    ("in_hand::retry", |db| Box::pin(deliveries::settle(db, Delivery::retry, FREE))),
    ("in_hand::retry_after", |db| {
        Box::pin(deliveries::settle(db, |delivery| delivery.retry_after(Duration::ZERO), PUT_OFF))
    }),
    ("message::insert", |db| Box::pin(publishes::insert_one(db))),
    ("messages::insert", |db| Box::pin(publishes::insert_many(db))),
    ("publisher::publish", |db| Box::pin(publishes::publish(db))),
    ("service::run", |db| Box::pin(services::run(db))),
    ("service::start", |db| Box::pin(services::start(db))),
    ("running::stopped", |db| Box::pin(services::stopped(db))),
    ("running::shutdown", |db| Box::pin(services::shutdown(db))),
];

/// A trial of each name in the list, and of handlers, whose futures are the user's.
pub(crate) fn trials(stands: &Stands) -> Vec<Trial> {
    let swept = SWEEP_LIST.iter().flat_map(|listed| {
        let name = format!("sweep::{listed}");
        match CASES.iter().find(|(case, _)| case == listed) {
            Some((_, case)) => on_every_stand::<Database, _, _>(&name, stands, *case),
            None => vec![Trial::test(name, || {
                Err("it is in tests/src/sweep_list.rs, and no case sweeps it".into())
            })],
        }
    });
    swept.chain(handlers::trials(stands)).collect()
}
