//! A queue in a table of your own database, declared.
