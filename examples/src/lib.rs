//! Runnable services; see `src/bin`.
