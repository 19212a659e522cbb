//! What a careful programmer writes by hand, without any of the promises.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use sqlx::{Connection, PgConnection, PgPool};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::rows::Job;
use crate::{BoxError, Ran};

type Row = (i64, DateTime<Utc>, Vec<u8>);

pub(crate) const CLAIM: &str = "UPDATE drain_rows AS j \
     SET locked_until = clock_timestamp() + interval '30 seconds', attempt = j.attempt + 1 \
     WHERE j.id = ANY (ARRAY (SELECT c.id FROM drain_rows AS c WHERE c.kind = 'bench' \
     AND coalesce(c.retry_after, '-infinity') <= statement_timestamp() \
     AND (c.locked_until IS NULL OR c.locked_until <= statement_timestamp()) \
     AND (coalesce(c.retry_after, '-infinity'), c.id) > ('-infinity', $2) \
     ORDER BY coalesce(c.retry_after, '-infinity'), c.id LIMIT $1 \
     FOR NO KEY UPDATE SKIP LOCKED)) RETURNING j.id, j.locked_until, j.payload";

const DELETE: &str = "DELETE FROM drain_rows WHERE id = $1 AND locked_until = $2";

pub(crate) const DELETE_MANY: &str = "DELETE FROM drain_rows AS j USING unnest($1, $2) AS u(id, token) \
     WHERE j.id = u.id AND j.locked_until = u.token";

/// Claims and deletes one row at a time, on 8 connections.
pub(crate) async fn one_by_one(pool: &PgPool, ran: Arc<Ran>) -> Result<(), BoxError> {
    let mut loops = JoinSet::new();
    for _ in 0..8 {
        let (options, ran) = (pool.connect_options(), Arc::clone(&ran));
        loops.spawn(async move {
            let mut connection = PgConnection::connect_with(&options).await?;
            loop {
                let claim = sqlx::query_as::<_, Row>(CLAIM).bind(1_i64).bind(0_i64);
                let Some((id, token, payload)) = claim.fetch_optional(&mut connection).await?
                else {
                    return Ok(());
                };
                work(&payload, &ran)?;
                sqlx::query(DELETE).bind(id).bind(token).execute(&mut connection).await?;
            }
        });
    }
    loops.join_all().await.into_iter().collect()
}

/// Claims 500 rows at a time past a watermark, and deletes what is done in groups meanwhile.
pub(crate) async fn batched(pool: &PgPool, ran: Arc<Ran>) -> Result<(), BoxError> {
    let (done, mut groups) = mpsc::channel::<(Vec<i64>, Vec<DateTime<Utc>>)>(2);
    let options = pool.connect_options();
    let deletes = tokio::spawn(async move {
        let mut connection = PgConnection::connect_with(&options).await?;
        while let Some((ids, tokens)) = groups.recv().await {
            sqlx::query(DELETE_MANY).bind(ids).bind(tokens).execute(&mut connection).await?;
        }
        Ok::<_, sqlx::Error>(())
    });
    let mut connection = PgConnection::connect_with(&pool.connect_options()).await?;
    let mut watermark = 0_i64;
    loop {
        let claim = sqlx::query_as::<_, Row>(CLAIM).bind(500_i64).bind(watermark);
        let rows = claim.fetch_all(&mut connection).await?;
        if rows.is_empty() {
            break;
        }
        let (mut ids, mut tokens) = (Vec::new(), Vec::new());
        for (id, token, payload) in rows {
            work(&payload, &ran)?;
            watermark = watermark.max(id);
            ids.push(id);
            tokens.push(token);
        }
        done.send((ids, tokens)).await?;
    }
    drop(done);
    deletes.await??;
    Ok(())
}

/// What the handler does too.
pub(crate) fn work(payload: &[u8], ran: &Ran) -> Result<(), BoxError> {
    let job: Job = serde_json::from_slice(payload)?;
    ran.row(job.row);
    Ok(())
}
