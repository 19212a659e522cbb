//! A subscriber can be more visible than what it takes, like any other function.

use queue_table::prelude::*;

/// What a service keeps to itself.
pub(crate) mod mail {
    use queue_table::prelude::*;

    #[derive(QueueTable, sqlx::FromRow)]
    #[queue_table(name = "jobs")]
    struct Job {
        #[queue(id)]
        id: i64,
        #[queue(locked_until)]
        locked_until: Option<i64>,
        #[queue(attempt)]
        attempt: i32,
    }

    #[derive(Clone)]
    pub(crate) struct Mailer(u32);

    #[subscriber(Job)]
    pub async fn send(Ctx(attempt): Ctx<keys::Attempt>, State(mailer): State<Mailer>) -> Outcome {
        Outcome::retry().because(attempt + mailer.0)
    }

    #[subscriber(Job)]
    #[allow(private_interfaces, reason = "rustc's own warning about the function")]
    pub async fn look(job: &Job) {
        let _ = job;
    }

    pub(crate) fn mount_look() {
        queue_table_ui_tests::on_sqlite(|b| {
            b.mount(look);
        });
    }
}

#[test]
fn it_is_mounted_from_elsewhere() {
    queue_table_ui_tests::on_sqlite(|b| {
        b.mount(mail::send.workers(2));
    });
    queue_table_ui_tests::on_postgres(|b| {
        b.mount(mail::send);
    });
    mail::mount_look();
}
