//! SQLite through sqlx.

use sqlx::sqlite::{SqliteRow, SqliteTypeInfo};
use sqlx::{Arguments, Decode, Encode, Executor, Row, Sqlite, Type, TypeInfo, ValueRef};
use sqlx::{SqlSafeStr, SqlStr};

use super::{Backend, BindResult, Bound, Chain, Each, Fault, IdOn, PayloadValue};
use crate::descriptor::{Count, PayloadForm, TimeForm};
use crate::dialect::{self, Clock};

type Args = <Sqlite as sqlx::Database>::Arguments;

impl Backend for Sqlite {
    type Dialect = dialect::Sqlite;
    type Session = ();

    const ONE_WRITER: bool = true;
    const INTERRUPTIBLE: bool = false;
    // A transaction that writes holds up every other writer of the file.
    const CHAIN: Option<Chain> = None;

    fn dialect(_clock: Clock) -> dialect::Sqlite {
        dialect::Sqlite
    }

    // All rows are read before anything else happens: until then the write is not committed, and
    // everybody else finds the database locked.
    async fn rows(
        connection: &mut sqlx::SqliteConnection,
        sql: SqlStr,
        arguments: Args,
    ) -> sqlx::Result<Vec<SqliteRow>> {
        connection.fetch_all(sqlx::query_with(sql, arguments)).await
    }

    async fn run_text(
        connection: &mut sqlx::SqliteConnection,
        text: &'static str,
    ) -> sqlx::Result<()> {
        connection.execute(text.into_sql_str()).await.map(drop)
    }

    async fn rows_on<'c, E>(
        executor: E,
        sql: SqlStr,
        arguments: Args,
    ) -> sqlx::Result<Vec<SqliteRow>>
    where
        E: Executor<'c, Database = Self> + 'c,
    {
        executor.fetch_all(sqlx::query_with(sql, arguments)).await
    }

    async fn prepare(
        connection: &mut sqlx::SqliteConnection,
        sql: SqlStr,
        types: &[SqliteTypeInfo],
    ) -> sqlx::Result<()> {
        connection.prepare_with(sql, types).await.map(drop)
    }

    async fn enter(_connection: &mut sqlx::SqliteConnection) -> sqlx::Result<()> {
        Ok(())
    }

    async fn leave(_connection: &mut sqlx::SqliteConnection, _session: ()) -> sqlx::Result<()> {
        Ok(())
    }

    // The codes are those of "Result and Error Codes" in SQLite's documentation.
    fn fault(error: &sqlx::Error) -> Fault {
        let sqlx::Error::Database(database) = error else {
            return Fault::of_client(error);
        };
        let code: i32 = database.code().and_then(|code| code.parse().ok()).unwrap_or_default();
        // The low byte is the primary code; the rest of the number only refines it.
        match code & 0xff {
            // SQLITE_BUSY, SQLITE_LOCKED, SQLITE_NOMEM, SQLITE_INTERRUPT, SQLITE_IOERR
            5 | 6 | 7 | 9 | 10 => Fault::Transient,
            // SQLITE_FULL
            13 => Fault::Full,
            // SQLITE_SCHEMA, SQLITE_CANTOPEN, SQLITE_PROTOCOL
            17 | 14 | 15 => Fault::Connection,
            // SQLITE_AUTH, SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_READONLY.
            8 | 11 | 23 | 26 => Fault::Schema,
            // SQLITE_ERROR says what it means only in its text: a missing table or column, or what
            // a function in a trigger made of a row.
            1 if is_missing(database.message()) => Fault::Schema,
            _ => Fault::Data,
        }
    }

    fn bind_int(arguments: &mut Args, value: i64) -> BindResult {
        arguments.add(value)
    }

    fn bind_ints(_arguments: &mut Args, _values: &[i64]) -> BindResult {
        no_arrays()
    }

    fn bind_text(arguments: &mut Args, value: Option<&str>) -> BindResult {
        arguments.add(value.map(str::to_owned))
    }

    fn bind_texts(_arguments: &mut Args, _values: &[Option<String>]) -> BindResult {
        no_arrays()
    }

    fn bind_time(arguments: &mut Args, form: TimeForm, value: Option<i64>) -> BindResult {
        match form {
            TimeForm::Micros => arguments.add(value),
            #[cfg(feature = "chrono")]
            TimeForm::Native => {
                arguments.add(value.and_then(chrono::DateTime::from_timestamp_micros))
            }
            #[cfg(not(feature = "chrono"))]
            TimeForm::Native => unreachable!("only the feature `chrono` has such a column here"),
        }
    }

    fn bind_times(_arguments: &mut Args, _form: TimeForm, _values: &[i64]) -> BindResult {
        no_arrays()
    }

    fn bind_payload(arguments: &mut Args, value: &PayloadValue) -> BindResult {
        match value {
            PayloadValue::Bytes(bytes) => arguments.add(bytes.clone()),
            PayloadValue::Text(text) => arguments.add(text.clone()),
            #[cfg(feature = "json")]
            PayloadValue::Json(json) => arguments.add(json.get().to_owned()),
        }
    }

    fn bind_payloads(_arguments: &mut Args, _values: &[PayloadValue]) -> BindResult {
        no_arrays()
    }

    fn type_of(_value: Bound) -> Option<SqliteTypeInfo> {
        None
    }

    fn int(row: &SqliteRow, at: usize) -> sqlx::Result<i64> {
        row.try_get(at)
    }

    fn text(row: &SqliteRow, at: usize) -> sqlx::Result<String> {
        row.try_get(at)
    }

    fn count(row: &SqliteRow, at: usize, _count: Count) -> sqlx::Result<i64> {
        row.try_get(at)
    }

    fn time(row: &SqliteRow, at: usize, form: TimeForm) -> sqlx::Result<Option<i64>> {
        match form {
            TimeForm::Micros => row.try_get(at),
            #[cfg(feature = "chrono")]
            TimeForm::Native => {
                let time: Option<chrono::DateTime<chrono::Utc>> = row.try_get(at)?;
                Ok(time.map(|time| time.timestamp_micros()))
            }
            #[cfg(not(feature = "chrono"))]
            TimeForm::Native => unreachable!("only the feature `chrono` has such a column here"),
        }
    }

    fn payload(row: &SqliteRow, at: usize, form: PayloadForm) -> sqlx::Result<&[u8]> {
        match form {
            PayloadForm::Bytes => row.try_get(at),
            PayloadForm::Text | PayloadForm::Json => row.try_get::<&str, _>(at).map(str::as_bytes),
        }
    }

    fn size(row: &SqliteRow) -> usize {
        let bytes = |at| match row.try_get_raw(at) {
            // Only these: asking for the bytes of a number would turn it into a text.
            Ok(value) if matches!(value.type_info().name(), "TEXT" | "BLOB") => {
                <&[u8] as Decode<Self>>::decode(value).map_or(0, <[u8]>::len)
            }
            _ => 0,
        };
        (0..row.len()).map(bytes).sum()
    }
}

/// `no such table: jobs`, `no such column: kind`; an insert says `table jobs has no column named kind`.
fn is_missing(message: &str) -> bool {
    message.starts_with("no such ") || message.contains(" has no column named ")
}

fn no_arrays() -> BindResult {
    unreachable!("SQLite has no arrays; its dialect pads rows")
}

#[diagnostic::do_not_recommend]
impl<T> IdOn<Sqlite> for T
where
    T: Type<Sqlite>,
    T: for<'q> Encode<'q, Sqlite> + for<'r> Decode<'r, Sqlite>,
{
    fn bind(&self, arguments: &mut Args) -> BindResult {
        arguments.add(self)
    }

    fn bind_many(_ids: &[Self], _arguments: &mut Args) -> BindResult {
        no_arrays()
    }

    fn read(row: &SqliteRow, at: usize) -> sqlx::Result<Self> {
        row.try_get(at)
    }

    fn one() -> Option<SqliteTypeInfo> {
        None
    }

    fn many() -> Option<SqliteTypeInfo> {
        None
    }
}

#[diagnostic::do_not_recommend]
impl<T> Each<Sqlite> for T
where
    T: Type<Sqlite> + for<'q> Encode<'q, Sqlite> + for<'r> Decode<'r, Sqlite>,
{
    fn bind_each(_values: &[Self], _arguments: &mut Args) -> BindResult {
        no_arrays()
    }
}
