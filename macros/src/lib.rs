//! The derive and the attribute of `queue-table`, which re-exports and documents them.
