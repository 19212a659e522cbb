//! The harness of the tests: real databases, a network that can be broken, and waiting that ends.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a test fails by panicking, and everything here is called by tests"
)]

pub mod batches;
pub mod conformance;
pub mod database;
pub mod errands;
pub mod eventually;
pub mod history;
pub mod logged;
pub mod login;
pub mod plans;
pub mod proxy;
pub mod queue;
pub mod refusal;
pub mod row_lock;
pub mod shapes;
pub mod source;
pub mod stands;
pub mod sweep_list;
