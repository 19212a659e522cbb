//! Values into the parameters of a statement.

use super::{Backend, BindResult, Bound, Failure, IdOn, Query, Sql};
use crate::descriptor::TimeForm;
use crate::dialect::{Many, Param, RowValue, Statement};

/// The values of a statement that are the same for all of its rows.
#[derive(Debug, Clone)]
pub struct Values<'a, Id> {
    /// The subscription's group.
    pub group: &'a str,
    /// The group of its dead letters.
    pub dead_letter: &'a str,
    /// The most rows to claim.
    pub limit: i64,
    /// Microseconds.
    pub lease: i64,
    /// Microseconds since 1970 on the host, moved by `shift`.
    pub now: i64,
    /// Microseconds.
    pub shift: i64,
    /// The last row that was claimed: its `retry_after` and its id.
    pub after: Option<(Option<i64>, &'a Id)>,
    /// The table, for the catalog.
    pub table: &'a str,
    /// The table's schema, for the catalog.
    pub schema: &'a str,
}

impl<Id> Default for Values<'_, Id> {
    fn default() -> Self {
        Self {
            group: "",
            dead_letter: "",
            limit: 0,
            lease: 0,
            now: 0,
            shift: 0,
            after: None,
            table: "",
            schema: "",
        }
    }
}

/// Where the values of single rows come from.
pub(crate) trait RowSource<DB: Backend> {
    /// Binds one value of the row at `row`.
    fn bind(&self, value: RowValue, row: usize, now: i64, to: &mut DB::Arguments) -> BindResult;
    /// Binds one value of all rows, as an array.
    fn bind_all(&self, value: RowValue, to: &mut DB::Arguments) -> BindResult;
}

/// Rows with their tokens, column by column: what PostgreSQL takes as arrays.
#[derive(Debug, Clone)]
pub struct RowsOf<Id> {
    /// How tokens are written.
    pub form: TimeForm,
    /// The primary keys.
    pub ids: Vec<Id>,
    /// The tokens: microseconds since 1970.
    pub tokens: Vec<i64>,
    /// The counts that the claims stored.
    pub attempts: Vec<i64>,
    /// The reasons, of a settlement.
    pub reasons: Vec<Option<String>>,
    /// The delays in microseconds, of a settlement.
    pub delays: Vec<i64>,
}

impl<Id> RowsOf<Id> {
    pub(crate) const fn new(form: TimeForm) -> Self {
        Self {
            form,
            ids: Vec::new(),
            tokens: Vec::new(),
            attempts: Vec::new(),
            reasons: Vec::new(),
            delays: Vec::new(),
        }
    }

    /// Rows of which only the ids are known.
    pub(crate) fn of_ids(ids: Vec<Id>) -> Self {
        let mut rows = Self::new(TimeForm::Micros);
        rows.ids = ids;
        rows
    }

    pub(crate) fn push(&mut self, id: Id, token: i64, attempt: i64) {
        self.ids.push(id);
        self.tokens.push(token);
        self.attempts.push(attempt);
    }

    /// No rows of the same form.
    pub(crate) const fn empty(&self) -> Self {
        Self::new(self.form)
    }

    /// Cuts the rows in two, and returns those from `at` on.
    pub(crate) fn split_off(&mut self, at: usize) -> Self {
        Self {
            form: self.form,
            ids: self.ids.split_off(at),
            tokens: self.tokens.split_off(at),
            attempts: self.attempts.split_off(at),
            reasons: self.reasons.split_off(at.min(self.reasons.len())),
            delays: self.delays.split_off(at.min(self.delays.len())),
        }
    }
}

impl<Id: Clone> RowsOf<Id> {
    /// Copies one row of others.
    pub(crate) fn take(&mut self, from: &Self, n: usize) {
        self.push(from.ids[n].clone(), from.tokens[n], from.attempts[n]);
        // A renewal has neither reasons nor delays.
        self.reasons.extend(from.reasons.get(n).cloned());
        self.delays.extend(from.delays.get(n));
    }
}

impl<DB: Backend, Id: IdOn<DB>> RowSource<DB> for RowsOf<Id> {
    fn bind(&self, value: RowValue, row: usize, now: i64, to: &mut DB::Arguments) -> BindResult {
        match value {
            RowValue::Ordinal => DB::bind_int(to, i64::try_from(row)?),
            RowValue::Id => self.ids[row].bind(to),
            RowValue::Token => DB::bind_time(to, self.form, Some(self.tokens[row])),
            RowValue::NextToken => DB::bind_time(to, self.form, Some(self.tokens[row] + 1)),
            RowValue::Attempt => DB::bind_int(to, self.attempts[row]),
            RowValue::Reason => DB::bind_text(to, self.reasons[row].as_deref()),
            RowValue::Delay => DB::bind_int(to, self.delays[row]),
            RowValue::Due(form) => {
                DB::bind_time(to, form, Some(now.saturating_add(self.delays[row])))
            }
            RowValue::Payload | RowValue::Data(_) => unreachable!("only an insert has them"),
        }
    }

    fn bind_all(&self, value: RowValue, to: &mut DB::Arguments) -> BindResult {
        match value {
            RowValue::Id => Id::bind_many(&self.ids, to),
            RowValue::Token => DB::bind_times(to, self.form, &self.tokens),
            RowValue::Attempt => DB::bind_ints(to, &self.attempts),
            RowValue::Reason => DB::bind_texts(to, &self.reasons),
            RowValue::Delay => DB::bind_ints(to, &self.delays),
            _ => unreachable!("no dialect asks for an array of it"),
        }
    }
}

/// Binds a statement that has no rows.
pub(crate) fn bind<DB: Backend, Id: IdOn<DB>>(
    statement: &Statement,
    values: &Values<'_, Id>,
) -> Result<Query<DB>, Failure> {
    bind_rows(statement, values, 0, 0, &RowsOf::<Id>::new(TimeForm::Micros))
}

/// Binds a statement over many rows, of which there are `rows`.
pub(crate) fn bind_many<DB: Backend, Id: IdOn<DB>>(
    many: &Many,
    values: &Values<'_, Id>,
    rows: usize,
    source: &impl RowSource<DB>,
) -> Result<Query<DB>, Failure> {
    let (statement, bound) = many.for_rows(rows);
    bind_rows(statement, values, rows, bound, source)
}

/// `bound` rows are bound, and the last one is repeated where there are fewer.
pub(crate) fn bind_rows<DB: Backend, Id: IdOn<DB>>(
    statement: &Statement,
    values: &Values<'_, Id>,
    rows: usize,
    bound: usize,
    source: &impl RowSource<DB>,
) -> Result<Query<DB>, Failure> {
    let mut arguments = DB::Arguments::default();
    let to = &mut arguments;
    let mut bind = || {
        for param in statement.params() {
            match param {
                Param::Group => DB::bind_text(to, Some(values.group))?,
                Param::DeadLetter => DB::bind_text(to, Some(values.dead_letter))?,
                Param::Limit => DB::bind_int(to, values.limit)?,
                Param::Lease => DB::bind_int(to, values.lease)?,
                Param::Shift => DB::bind_int(to, values.shift)?,
                Param::Now(form) => DB::bind_time(to, *form, Some(values.now))?,
                Param::Until(form) => {
                    let until = values.now.saturating_add(values.lease);
                    DB::bind_time(to, *form, Some(until))?;
                }
                Param::AfterTime(form) => {
                    DB::bind_time(to, *form, values.after.and_then(|(time, _)| time))?;
                }
                Param::AfterId => match values.after {
                    Some((_, id)) => id.bind(to)?,
                    None => unreachable!("a watermark is claimed past a row"),
                },
                Param::Table => DB::bind_text(to, Some(values.table))?,
                Param::Schema => DB::bind_text(to, Some(values.schema))?,
                Param::One(value) => source.bind(*value, 0, values.now, to)?,
                Param::Array(value) => source.bind_all(*value, to)?,
                Param::Rows(row_values) => {
                    for row in 0..bound {
                        for value in row_values {
                            source.bind(*value, row.min(rows - 1), values.now, to)?;
                        }
                    }
                }
            }
        }
        Ok(())
    };
    bind().map_err(|error| Failure::bind(statement.name(), error))?;
    Ok(Query { name: statement.name(), sql: statement.sql(), arguments })
}

/// The values of a statement alone: the model test runs texts of its own making.
///
/// # Errors
///
/// A value that cannot be encoded.
pub fn arguments<DB: Backend, Id: IdOn<DB>>(
    statement: &Statement,
    values: &Values<'_, Id>,
    bound: usize,
    rows: &RowsOf<Id>,
) -> sqlx::Result<DB::Arguments> {
    let query = bind_rows::<DB, Id>(statement, values, rows.ids.len(), bound, rows);
    query.map(|query| query.arguments).map_err(|failure| failure.error)
}

/// The types of a statement's parameters, for a server that must be told them.
pub(crate) fn types<DB: Backend, Id: IdOn<DB>>(
    statement: &Statement,
    form: TimeForm,
) -> Vec<DB::TypeInfo> {
    let type_of = |param: &Param| match param {
        Param::Group | Param::DeadLetter | Param::Table | Param::Schema => DB::type_of(Bound::Text),
        Param::Limit | Param::Lease | Param::Shift => DB::type_of(Bound::Int),
        Param::Now(form) | Param::Until(form) | Param::AfterTime(form) => {
            DB::type_of(Bound::Time(*form))
        }
        Param::AfterId | Param::One(RowValue::Id) => Id::one(),
        Param::Array(RowValue::Id) => Id::many(),
        Param::Array(RowValue::Token) => DB::type_of(Bound::Times(form)),
        Param::Array(RowValue::Reason) => DB::type_of(Bound::Texts),
        Param::Array(_) => DB::type_of(Bound::Ints),
        Param::One(_) | Param::Rows(_) => None,
    };
    statement.params().iter().filter_map(type_of).collect()
}
