//! A message as its column stores it.

/// A message as its column stores it.
#[derive(Debug, Clone)]
#[doc(hidden)]
pub enum PayloadValue {
    /// JSON in bytes.
    Bytes(Vec<u8>),
    /// JSON in a text.
    Text(String),
    /// JSON as the database's own type; serialised already.
    #[cfg(feature = "json")]
    Json(Box<serde_json::value::RawValue>),
}
