//! Every statement of a shape, as its file has it.

use std::path::PathBuf;

use queue_table::__private::lease::{
    ClaimFrom, Dialect, Event, Insert, Many, Names, Param, Plan, RowValue, Statement,
};
use queue_table::descriptor::{Form, PayloadForm, Role, TimeForm};

use super::Shape;
use crate::database::Db;
use crate::source::root;
use crate::stands::Kind;

/// A padded statement is the same for every number of rows, so two of them show it.
const PADDED_ROWS: [usize; 2] = [1, 4];

/// One statement of a shape.
#[derive(Debug, Clone)]
pub struct Rendered {
    /// The name of its file, without `.sql`.
    pub name: String,
    /// What the dialect wrote.
    pub statement: Statement,
    /// The types of its parameters, as a server must be told them.
    pub types: Vec<String>,
    header: String,
}

impl Rendered {
    fn new<DB: Db>(shape: &Shape, name: &str, statement: Statement, rows: usize) -> Self {
        let params = statement.params();
        let types: Vec<_> = params.iter().map(|param| type_of(shape, param)).collect();
        let described: Vec<_> = params
            .iter()
            .enumerate()
            .map(|(n, param)| match DB::KIND {
                Kind::Postgres => format!("${} {}: {}", n + 1, describe(param, rows), types[n]),
                Kind::Sqlite => describe(param, rows),
            })
            .collect();
        let header = match described.is_empty() {
            true => "-- no parameters".to_owned(),
            false => format!("-- {}", described.join(", ")),
        };
        Self { name: name.to_owned(), statement, types, header }
    }

    /// All of its file.
    #[must_use]
    pub fn file(&self) -> String {
        format!("{}\n{};\n", self.header, self.statement.text())
    }
}

impl Shape {
    /// The folder of its files.
    #[must_use]
    pub fn folder<DB: Db>(&self) -> PathBuf {
        root().join("tests/sql").join(DB::KIND.name()).join(self.name)
    }

    /// The statements that make its table, and then the index of its claims.
    #[must_use]
    pub fn ddl<DB: Db>(&self) -> String {
        let folder = self.folder::<DB>().with_file_name(self.table_of);
        let read = |file: &str| match std::fs::read_to_string(folder.join(file)) {
            Ok(ddl) => ddl,
            Err(error) => panic!("{} of {}: {error}", file, folder.display()),
        };
        match self.dead {
            Some(_) => format!("{}\n{}", read("table.sql"), read("dead_letters.sql")),
            None => read("table.sql"),
        }
    }

    /// Those of its dead letters, where they have a table.
    #[must_use]
    pub fn dead_names(&self) -> Option<Names> {
        self.dead.as_ref().and_then(Names::new)
    }

    /// Its quoted names.
    #[must_use]
    pub fn names(&self) -> Names {
        Names::new(&self.table).unwrap_or_else(|| panic!("`{}` is no lease table", self.name))
    }
}

/// Every statement of a shape for one database.
#[must_use]
pub fn rendered<DB: Db>(shape: &Shape) -> Vec<Rendered> {
    let dialect = DB::dialect(shape.clock);
    let names = shape.names();
    let mut all = Vec::new();
    let claims = ClaimFrom::ALL.into_iter().filter_map(|from| dialect.claim(&names, from));
    let firsts = ClaimFrom::ALL.into_iter().filter_map(|from| dialect.first(&names, from));
    for single in claims.chain(dialect.claim_one(&names)).chain(firsts) {
        all.push(Rendered::new::<DB>(shape, single.name(), single.clone(), 0));
    }
    let excepts = ClaimFrom::ALL.into_iter().filter_map(|from| dialect.claim_except(&names, from));
    let settles = Event::ALL.into_iter().filter_map(|event| dialect.settle(&names, event));
    let others = [dialect.renew(&names), dialect.look(&names)].into_iter().flatten();
    for many in excepts.chain(settles).chain(others) {
        all.extend(of_many::<DB>(shape, &many, many.statements()[0].name()));
    }
    if let Some(dead) = shape.dead_names() {
        let moved = dialect.settle_into(&names, &dead);
        for many in moved.iter().flat_map(Plan::parts) {
            let name = many.statements()[0].name();
            all.extend(of_many::<DB>(shape, many, &name.replace("letter", "letter_table")));
        }
        if let Some(many) = dialect.end_into(&names, &dead) {
            all.extend(of_many::<DB>(shape, &many, "dead_letter_table_locked"));
        }
    }
    all.push(Rendered::new::<DB>(shape, "columns", dialect.columns(&names), 0));
    for (case, insert) in &shape.inserts {
        // A single row has nothing of each row.
        let single = insert.data.iter().map(|(column, _)| (*column, false)).collect();
        let one = dialect.insert(&names, &Insert { data: single, ..insert.clone() });
        all.push(Rendered::new::<DB>(shape, &format!("insert_{case}"), one, 0));
        let is_padded = matches!(dialect.renew(&names), Some(Many::Padded(_)));
        for rows in PADDED_ROWS.into_iter().take(if is_padded { 2 } else { 1 }) {
            let Some((many, rows)) = dialect.insert_many(&names, insert, rows) else { continue };
            let name = format!("insert_many_{case}");
            let name = if is_padded { padded_name(&name, rows) } else { name };
            all.push(Rendered::new::<DB>(shape, &name, many, rows));
        }
    }
    all
}

/// The texts of a statement over many rows.
fn of_many<DB: Db>(shape: &Shape, many: &Many, name: &str) -> Vec<Rendered> {
    match many {
        Many::Arrays(statement) => vec![Rendered::new::<DB>(shape, name, statement.clone(), 0)],
        Many::Padded(_) => {
            let sizes = PADDED_ROWS.map(|rows| many.for_rows(rows));
            let padded = sizes.map(|(statement, rows)| {
                let name = padded_name(name, rows);
                Rendered::new::<DB>(shape, &name, statement.clone(), rows)
            });
            padded.into()
        }
    }
}

fn padded_name(name: &str, rows: usize) -> String {
    format!("{name}_{rows}_row{}", if rows == 1 { "" } else { "s" })
}

/// What is bound, in words.
fn describe(param: &Param, rows: usize) -> String {
    match param {
        Param::Group => "group".to_owned(),
        Param::DeadLetter => "group of the dead letters".to_owned(),
        Param::Limit => "limit".to_owned(),
        Param::Lease => "lease in microseconds".to_owned(),
        Param::Shift => "shift of the clock in microseconds".to_owned(),
        Param::Now(form) => format!("now{}", written(*form)),
        Param::Until(form) => format!("now plus the lease{}", written(*form)),
        Param::AfterTime(form) => {
            format!("retry_after of the last row or null{}", written(*form))
        }
        Param::AfterId => "id of the last row".to_owned(),
        Param::Table => "table".to_owned(),
        Param::Schema => "schema".to_owned(),
        Param::One(value) => describe_value(*value),
        Param::Array(value) => format!("{} of each row", describe_value(*value)),
        Param::Rows(values) => {
            let values: Vec<_> = values.iter().map(|value| describe_value(*value)).collect();
            format!("{rows} x ({})", values.join(", "))
        }
    }
}

fn describe_value(value: RowValue) -> String {
    match value {
        RowValue::Ordinal => "ordinal".to_owned(),
        RowValue::Id => "id".to_owned(),
        RowValue::Token => "token".to_owned(),
        RowValue::Attempt => "stored count".to_owned(),
        RowValue::Reason => "reason or null".to_owned(),
        RowValue::Delay => "delay in microseconds".to_owned(),
        RowValue::Due(form) => format!("now plus the delay{}", written(form)),
        RowValue::NextToken => "token plus one tick".to_owned(),
        RowValue::Payload => "payload".to_owned(),
        RowValue::Data(n) => format!("data column {n}"),
    }
}

const fn written(form: TimeForm) -> &'static str {
    match form {
        TimeForm::Micros => " in microseconds",
        _ => "",
    }
}

/// The types that the backend binds on PostgreSQL.
fn type_of(shape: &Shape, param: &Param) -> String {
    let time = |form| if form == TimeForm::Micros { "bigint" } else { "timestamptz" };
    match param {
        Param::Group | Param::DeadLetter | Param::Table | Param::Schema => "text".to_owned(),
        Param::Limit | Param::Lease | Param::Shift => "bigint".to_owned(),
        Param::Now(form) | Param::Until(form) | Param::AfterTime(form) => time(*form).to_owned(),
        Param::AfterId => shape.id.to_owned(),
        Param::One(value) => type_of_value(shape, *value).to_owned(),
        Param::Array(value) => format!("{}[]", type_of_value(shape, *value)),
        // Bound one by one, and only on SQLite, which is told no types.
        Param::Rows(_) => String::new(),
    }
}

fn type_of_value(shape: &Shape, value: RowValue) -> &'static str {
    let form = |role| shape.table.column(role).map(|column| column.form());
    match value {
        RowValue::Id => shape.id,
        RowValue::Token | RowValue::NextToken | RowValue::Due(_) => match form(Role::LockedUntil) {
            Some(Form::Time { form: TimeForm::Native, .. }) => "timestamptz",
            _ => "bigint",
        },
        RowValue::Ordinal | RowValue::Attempt | RowValue::Delay => "bigint",
        RowValue::Reason | RowValue::Data(_) => "text",
        RowValue::Payload => match form(Role::Payload) {
            Some(Form::Payload(PayloadForm::Bytes)) => "bytea",
            Some(Form::Payload(PayloadForm::Json)) => "jsonb",
            _ => "text",
        },
    }
}
