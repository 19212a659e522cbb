//! Messages in the payload column.

use super::QueueTable;
use crate::backend::PayloadValue;

/// A table whose messages are of type `M`.
#[diagnostic::on_unimplemented(
    message = "a message of `{Self}` cannot be a `{M}`",
    label = "not a message of `{Self}`",
    note = "a payload of bytes or text holds any type with `serde::Deserialize` (feature `json`), a `Json<T>` column holds `T`; without a payload column the handler takes the row: `&{Self}`"
)]
#[doc(hidden)]
pub trait Carries<M>: QueueTable {
    fn decode(bytes: &[u8]) -> Result<M, String>;
}

/// A table to which messages of type `M` can be published.
#[diagnostic::on_unimplemented(
    message = "a `{M}` cannot be published to `{Self}`",
    label = "not a message of `{Self}`",
    note = "a payload of bytes or text takes any type with `serde::Serialize` (feature `json`), a `Json<T>` column takes `T`; without a payload column use `{Self}::row()`"
)]
#[doc(hidden)]
pub trait Takes<M: ?Sized>: QueueTable {
    fn encode(message: &M) -> Result<PayloadValue, String>;
}

/// How a payload column's type reads a message.
#[doc(hidden)]
pub trait Reads<M> {
    fn read(bytes: &[u8]) -> Result<M, String>;
}

/// How a payload column's type writes a message.
#[doc(hidden)]
pub trait Writes<M: ?Sized> {
    fn write(message: &M) -> Result<PayloadValue, String>;
}

#[diagnostic::do_not_recommend]
impl<T: QueueTable<Payload: Reads<M>>, M> Carries<M> for T {
    fn decode(bytes: &[u8]) -> Result<M, String> {
        T::Payload::read(bytes)
    }
}

#[diagnostic::do_not_recommend]
impl<T: QueueTable<Payload: Writes<M>>, M: ?Sized> Takes<M> for T {
    fn encode(message: &M) -> Result<PayloadValue, String> {
        T::Payload::write(message)
    }
}

#[cfg(feature = "json")]
mod json {
    use std::fmt::Display;

    use serde::Serialize;
    use serde::de::DeserializeOwned;
    use sqlx::types::Json;

    use super::{PayloadValue, Reads, Writes};
    use crate::descriptor::{PayloadColumn, PayloadForm};

    fn text(error: impl Display) -> String {
        error.to_string()
    }

    impl<T> PayloadColumn for Json<T> {
        const FORM: PayloadForm = PayloadForm::Json;
    }

    #[diagnostic::do_not_recommend]
    impl<M: DeserializeOwned> Reads<M> for Vec<u8> {
        fn read(bytes: &[u8]) -> Result<M, String> {
            serde_json::from_slice(bytes).map_err(text)
        }
    }

    #[diagnostic::do_not_recommend]
    impl<M: DeserializeOwned> Reads<M> for String {
        fn read(bytes: &[u8]) -> Result<M, String> {
            serde_json::from_slice(bytes).map_err(text)
        }
    }

    #[diagnostic::do_not_recommend]
    impl<M: DeserializeOwned> Reads<M> for Json<M> {
        fn read(bytes: &[u8]) -> Result<M, String> {
            serde_json::from_slice(bytes).map_err(text)
        }
    }

    #[diagnostic::do_not_recommend]
    impl<M: Serialize + ?Sized> Writes<M> for Vec<u8> {
        fn write(message: &M) -> Result<PayloadValue, String> {
            serde_json::to_vec(message).map(PayloadValue::Bytes).map_err(text)
        }
    }

    #[diagnostic::do_not_recommend]
    impl<M: Serialize + ?Sized> Writes<M> for String {
        fn write(message: &M) -> Result<PayloadValue, String> {
            serde_json::to_string(message).map(PayloadValue::Text).map_err(text)
        }
    }

    #[diagnostic::do_not_recommend]
    impl<M: Serialize> Writes<M> for Json<M> {
        fn write(message: &M) -> Result<PayloadValue, String> {
            serde_json::value::to_raw_value(message).map(PayloadValue::Json).map_err(text)
        }
    }
}
