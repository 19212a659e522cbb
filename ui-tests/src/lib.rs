//! What the compiler says; see `tests/`.
