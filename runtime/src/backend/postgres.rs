//! PostgreSQL through sqlx.

use sqlx::postgres::{PgHasArrayType, PgRow, PgTypeInfo};
use sqlx::{Arguments, Decode, Encode, Executor, Postgres, Row, Type, ValueRef};
use sqlx::{SqlSafeStr, SqlStr};

use super::{Backend, BindResult, Bound, Chain, Each, Fault, IdOn, LocksRows, PayloadValue};
use crate::descriptor::{Count, PayloadForm, TimeForm};
use crate::dialect::{self, Clock};

type Args = <Postgres as sqlx::Database>::Arguments;

/// The settings that the queue relies on, and their values before. What a server does not know yet
/// is left out.
///
/// READ COMMITTED, because SKIP LOCKED at a higher level fails instead of skipping. Limits on
/// statements and on waiting for locks, because closing a socket does not end the statement that it
/// waited for; and none on transactions, which last as long as the handlers that they lock rows for.
/// And no plan that reads the whole table: plans are kept, and one from when the queue was empty
/// would be used for millions of rows until the next ANALYZE. Where such a plan is the only one, as
/// for a foreign key without an index, its price would start the compiler of plans, which takes
/// longer than all of a batch.
const SETTINGS: [(&str, &str); 12] = [
    ("default_transaction_isolation", "read committed"),
    ("statement_timeout", "10s"),
    ("lock_timeout", "1s"),
    ("idle_in_transaction_session_timeout", "0"),
    // From 17 on.
    ("transaction_timeout", "0"),
    // A host that is gone says nothing, and its locks last as long as its session: half a minute
    // instead of hours.
    ("tcp_keepalives_idle", "10"),
    ("tcp_keepalives_interval", "5"),
    ("tcp_keepalives_count", "3"),
    ("enable_seqscan", "off"),
    ("enable_bitmapscan", "off"),
    // One that is kept from an empty queue looks ids up in the claim's index, which it reads whole
    // for each of them (PostgreSQL 14 to 16). Planning takes some tenths of a millisecond.
    ("plan_cache_mode", "force_custom_plan"),
    ("jit", "off"),
];

/// What holds in a transaction that locks rows: its statements are sent again and again, so that
/// their plans are kept; and one of a few rows may wait longer for a lock than one that holds up
/// hundreds.
macro_rules! in_chain {
    ($begin:literal) => {
        concat!($begin, "; SET LOCAL plan_cache_mode = auto; SET LOCAL lock_timeout = '9s'")
    };
}

/// Plans are kept in a chain and made anew for the next, because planning each time costs a quarter
/// of what a row costs. A chain lasts a second, so that a plan from when the queue was empty is of
/// little harm.
const CHAIN: Chain = Chain {
    begin: in_chain!("DISCARD PLANS; BEGIN ISOLATION LEVEL READ COMMITTED"),
    commit_and_begin: in_chain!("COMMIT AND CHAIN"),
    commit: "COMMIT",
    rollback_and_begin: in_chain!("ROLLBACK AND CHAIN"),
    rollback: "ROLLBACK",
    mark: "SAVEPOINT queue_table",
    undo: "ROLLBACK TO SAVEPOINT queue_table",
    probe: "SELECT 1",
};

const ENTER: &str = "SELECT s.name, current_setting(s.name), set_config(s.name, s.value, false) \
     FROM unnest($1::text[], $2::text[]) AS s(name, value) \
     WHERE current_setting(s.name, true) IS NOT NULL";

const LEAVE: &str = "SELECT set_config(s.name, s.value, false) \
     FROM unnest($1::text[], $2::text[]) AS s(name, value)";

impl Backend for Postgres {
    type Dialect = dialect::Postgres;
    type Session = (Vec<String>, Vec<String>);

    const ONE_WRITER: bool = false;
    const INTERRUPTIBLE: bool = true;
    const CHAIN: Option<Chain> = Some(CHAIN);

    fn dialect(clock: Clock) -> dialect::Postgres {
        dialect::Postgres { clock }
    }

    async fn rows(
        connection: &mut sqlx::PgConnection,
        sql: SqlStr,
        arguments: Args,
    ) -> sqlx::Result<Vec<PgRow>> {
        connection.fetch_all(sqlx::query_with(sql, arguments)).await
    }

    async fn run_text(connection: &mut sqlx::PgConnection, text: &'static str) -> sqlx::Result<()> {
        connection.execute(text.into_sql_str()).await.map(drop)
    }

    async fn rows_on<'c, E>(executor: E, sql: SqlStr, arguments: Args) -> sqlx::Result<Vec<PgRow>>
    where
        E: Executor<'c, Database = Self> + 'c,
    {
        executor.fetch_all(sqlx::query_with(sql, arguments)).await
    }

    async fn prepare(
        connection: &mut sqlx::PgConnection,
        sql: SqlStr,
        types: &[PgTypeInfo],
    ) -> sqlx::Result<()> {
        connection.prepare_with(sql, types).await.map(drop)
    }

    async fn enter(
        connection: &mut sqlx::PgConnection,
    ) -> sqlx::Result<(Vec<String>, Vec<String>)> {
        let (names, values): (Vec<_>, Vec<_>) = SETTINGS.into_iter().unzip();
        let query = sqlx::query(ENTER.into_sql_str()).bind(names).bind(values);
        let rows = query.fetch_all(connection).await?;
        rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
    }

    async fn leave(
        connection: &mut sqlx::PgConnection,
        (names, values): (Vec<String>, Vec<String>),
    ) -> sqlx::Result<()> {
        let query = sqlx::query(LEAVE.into_sql_str()).bind(names).bind(values);
        connection.execute(query).await.map(drop)
    }

    // The classes are those of the manual's appendix A, "PostgreSQL Error Codes".
    fn fault(error: &sqlx::Error) -> Fault {
        let sqlx::Error::Database(database) = error else {
            return Fault::of_client(error);
        };
        let code = database.code().unwrap_or_default();
        match code.as_ref() {
            // A cached plan or a prepared statement that the server no longer knows.
            "0A000" | "26000" => Fault::Connection,
            // Deadlock, serialization.
            code if code.starts_with("40") => Fault::Transient,
            // Lock not available, query cancelled by a limit.
            "55P03" | "57014" => Fault::Blocked,
            "53100" => Fault::Full,
            // Out of memory, connections: it passes or an admin sees to it.
            code if code.starts_with("53") => Fault::Transient,
            // The server goes down, or is read-only: another connection may reach the primary.
            code if code.starts_with("57") || code.starts_with("08") || code == "25006" => {
                Fault::Connection
            }
            // An aborted transaction on a connection that was ours alone.
            code if code.starts_with("25") => Fault::Connection,
            // No such table, column, function; no permission.
            code if code.starts_with("42") || code.starts_with("3F") => Fault::Schema,
            _ => Fault::Data,
        }
    }

    fn bind_int(arguments: &mut Args, value: i64) -> BindResult {
        arguments.add(value)
    }

    fn bind_ints(arguments: &mut Args, values: &[i64]) -> BindResult {
        arguments.add(values)
    }

    fn bind_text(arguments: &mut Args, value: Option<&str>) -> BindResult {
        arguments.add(value)
    }

    fn bind_texts(arguments: &mut Args, values: &[Option<String>]) -> BindResult {
        arguments.add(values)
    }

    fn bind_time(arguments: &mut Args, form: TimeForm, value: Option<i64>) -> BindResult {
        match form {
            TimeForm::Micros => arguments.add(value),
            TimeForm::Native => arguments.add(value.map(native::Instant)),
        }
    }

    fn bind_times(arguments: &mut Args, form: TimeForm, values: &[i64]) -> BindResult {
        match form {
            TimeForm::Micros => arguments.add(values),
            TimeForm::Native => {
                arguments.add(values.iter().copied().map(native::Instant).collect::<Vec<_>>())
            }
        }
    }

    fn bind_payload(arguments: &mut Args, value: &PayloadValue) -> BindResult {
        match value {
            PayloadValue::Bytes(bytes) => arguments.add(bytes),
            PayloadValue::Text(text) => arguments.add(text),
            #[cfg(feature = "json")]
            PayloadValue::Json(json) => arguments.add(sqlx::types::Json(json)),
        }
    }

    fn bind_payloads(arguments: &mut Args, values: &[PayloadValue]) -> BindResult {
        match values.first() {
            #[cfg(feature = "json")]
            Some(PayloadValue::Json(_)) => {
                let json = |value: &PayloadValue| match value {
                    PayloadValue::Json(json) => Some(sqlx::types::Json(json.clone())),
                    _ => None,
                };
                arguments.add(values.iter().map(json).collect::<Vec<_>>())
            }
            Some(PayloadValue::Text(_)) => {
                let text = |value: &PayloadValue| match value {
                    PayloadValue::Text(text) => Some(text.clone()),
                    _ => None,
                };
                arguments.add(values.iter().map(text).collect::<Vec<_>>())
            }
            _ => {
                let bytes = |value: &PayloadValue| match value {
                    PayloadValue::Bytes(bytes) => Some(bytes.clone()),
                    _ => None,
                };
                arguments.add(values.iter().map(bytes).collect::<Vec<_>>())
            }
        }
    }

    fn type_of(value: Bound) -> Option<PgTypeInfo> {
        Some(match value {
            Bound::Int | Bound::Time(TimeForm::Micros) => <i64 as Type<Self>>::type_info(),
            Bound::Ints | Bound::Times(TimeForm::Micros) => i64::array_type_info(),
            Bound::Text => <str as Type<Self>>::type_info(),
            Bound::Texts => String::array_type_info(),
            Bound::Time(TimeForm::Native) => native::Instant::type_info(),
            Bound::Times(TimeForm::Native) => native::Instant::array_type_info(),
        })
    }

    fn int(row: &PgRow, at: usize) -> sqlx::Result<i64> {
        row.try_get(at)
    }

    fn text(row: &PgRow, at: usize) -> sqlx::Result<String> {
        row.try_get(at)
    }

    fn count(row: &PgRow, at: usize, count: Count) -> sqlx::Result<i64> {
        match count {
            Count::I8 | Count::U8 | Count::I16 => row.try_get::<i16, _>(at).map(i64::from),
            Count::U16 | Count::I32 => row.try_get::<i32, _>(at).map(i64::from),
            Count::U32 | Count::I64 => row.try_get(at),
        }
    }

    fn time(row: &PgRow, at: usize, form: TimeForm) -> sqlx::Result<Option<i64>> {
        match form {
            TimeForm::Micros => row.try_get(at),
            TimeForm::Native => row
                .try_get(at)
                .map(|time: Option<native::Instant>| time.map(|native::Instant(t)| t)),
        }
    }

    fn payload(row: &PgRow, at: usize, form: PayloadForm) -> sqlx::Result<&[u8]> {
        match form {
            PayloadForm::Bytes => row.try_get(at),
            PayloadForm::Text => row.try_get::<&str, _>(at).map(str::as_bytes),
            // The binary form of `jsonb` begins with a version; sqlx hands out the rest.
            #[cfg(feature = "json")]
            PayloadForm::Json => {
                let raw: sqlx::types::Json<&serde_json::value::RawValue> = row.try_get(at)?;
                Ok(raw.0.get().as_bytes())
            }
            #[cfg(not(feature = "json"))]
            PayloadForm::Json => unreachable!("only the feature `json` has such a column"),
        }
    }

    fn size(row: &PgRow) -> usize {
        let bytes = |at| match row.try_get_raw(at) {
            Ok(value) if !value.is_null() => value.as_bytes().map_or(0, <[u8]>::len),
            _ => 0,
        };
        (0..row.len()).map(bytes).sum()
    }
}

#[diagnostic::do_not_recommend]
impl<T> LocksRows<T> for Postgres {}

#[diagnostic::do_not_recommend]
impl<T> IdOn<Postgres> for T
where
    T: PgHasArrayType + Type<Postgres>,
    T: for<'q> Encode<'q, Postgres> + for<'r> Decode<'r, Postgres>,
{
    fn bind(&self, arguments: &mut Args) -> BindResult {
        arguments.add(self)
    }

    fn bind_many(ids: &[Self], arguments: &mut Args) -> BindResult {
        arguments.add(ids)
    }

    fn read(row: &PgRow, at: usize) -> sqlx::Result<Self> {
        row.try_get(at)
    }

    fn one() -> Option<PgTypeInfo> {
        Some(T::type_info())
    }

    fn many() -> Option<PgTypeInfo> {
        Some(T::array_type_info())
    }
}

#[diagnostic::do_not_recommend]
impl<T> Each<Postgres> for T
where
    T: PgHasArrayType
        + Type<Postgres>
        + for<'q> Encode<'q, Postgres>
        + for<'r> Decode<'r, Postgres>,
{
    fn bind_each(values: &[Self], arguments: &mut Args) -> BindResult {
        arguments.add(values)
    }
}

/// `timestamptz` as PostgreSQL sends it: microseconds since 2000-01-01, in eight bytes.
///
/// A type of our own, because it needs no date library and loses no tick.
mod native {
    use sqlx::encode::IsNull;
    use sqlx::error::BoxDynError;
    use sqlx::postgres::types::Oid;
    use sqlx::postgres::{PgArgumentBuffer, PgHasArrayType, PgTypeInfo, PgValueRef};
    use sqlx::{Decode, Encode, Postgres, Type};

    /// 2000-01-01 in microseconds since 1970.
    const EPOCH: i64 = 946_684_800_000_000;

    /// Microseconds since 1970. Infinities stay at the ends of the range.
    #[derive(Debug, Clone, Copy)]
    pub(super) struct Instant(pub(super) i64);

    impl Type<Postgres> for Instant {
        fn type_info() -> PgTypeInfo {
            // `timestamptz` in pg_type.dat, which never changes the numbers of its types.
            PgTypeInfo::with_oid(Oid(1184))
        }
    }

    impl PgHasArrayType for Instant {
        fn array_type_info() -> PgTypeInfo {
            PgTypeInfo::with_oid(Oid(1185))
        }
    }

    impl Encode<'_, Postgres> for Instant {
        fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
            Encode::<Postgres>::encode(self.0.saturating_sub(EPOCH), buffer)
        }
    }

    impl<'r> Decode<'r, Postgres> for Instant {
        fn decode(value: PgValueRef<'r>) -> Result<Self, BoxDynError> {
            let micros: i64 = Decode::<Postgres>::decode(value)?;
            Ok(Self(micros.saturating_add(EPOCH)))
        }
    }
}
