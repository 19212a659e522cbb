//! Messages in the payload column.

use std::marker::PhantomData;

use super::{QueueTable, RowItself};
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

/// Whether the type of a payload column says what its messages are.
#[doc(hidden)]
pub trait Tie {
    /// [`Tight`] or [`Loose`].
    type Kind;
    /// What they are, if it says so.
    type Message;
}

/// Messages are of one type.
#[derive(Debug)]
#[doc(hidden)]
pub enum Tight {}

/// Messages are of any type that the column holds.
#[derive(Debug)]
#[doc(hidden)]
pub enum Loose {}

/// A payload column of type `C` whose messages are of type `M`.
#[derive(Debug)]
#[doc(hidden)]
pub struct Tied<C, M>(PhantomData<fn() -> (C, M)>);

impl<C, M> Tie for Tied<C, M> {
    type Kind = Tight;
    type Message = M;
}

impl<C: Reads<M>, E, M> Reads<M> for Tied<C, E> {
    fn read(bytes: &[u8]) -> Result<M, String> {
        C::read(bytes)
    }
}

impl<C: Writes<M>, E, M: ?Sized> Writes<M> for Tied<C, E> {
    fn write(message: &M) -> Result<PayloadValue, String> {
        C::write(message)
    }
}

macro_rules! loose {
    ($($ty:ty),*) => { $(
        impl Tie for $ty {
            type Kind = Loose;
            type Message = ();
        }
    )* };
}

loose!(Vec<u8>, String, RowItself);

/// A type that is the one to which a table's messages are tied, if they are.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the message of this table, which is `{Message}`",
    label = "not a `{Message}`",
    note = "the table says `#[queue(payload = {Message})]`: use that type, or write `#[queue(payload)]` there, which allows every type"
)]
#[doc(hidden)]
pub trait MessageOf<Kind, Message> {}

impl<M: ?Sized> MessageOf<Loose, ()> for M {}
impl<M> MessageOf<Tight, M> for M {}

/// The kind of the table `T`.
#[doc(hidden)]
pub type KindOf<T> = <<T as QueueTable>::Payload as Tie>::Kind;

/// What the messages of the table `T` are tied to.
#[doc(hidden)]
pub type TiedTo<T> = <<T as QueueTable>::Payload as Tie>::Message;

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

    use super::{Loose, PayloadValue, Reads, Tie, Writes};
    use crate::descriptor::{PayloadColumn, PayloadForm};

    fn text(error: impl Display) -> String {
        error.to_string()
    }

    impl<T> PayloadColumn for Json<T> {
        const FORM: PayloadForm = PayloadForm::Json;
    }

    impl<T> Tie for Json<T> {
        type Kind = Loose;
        type Message = ();
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
