//! x
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::result_large_err,
    reason = "a benchmark fails by panicking"
)]
fn main() {}
