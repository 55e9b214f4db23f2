//! Egress as a whole: hostile URLs, names and answers; faulty backends; credentials, caches and pages.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::result_large_err,
    unreachable_pub,
    reason = "tests fail by panicking"
)]
mod attacks;
mod backends;
mod faulty;
mod hostile;
mod namespace;
mod reuse;
mod sharing;
mod trace;
mod world;
