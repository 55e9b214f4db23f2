//! Egress as a whole: hostile URLs, names and answers; faulty backends; credentials, caches and pages.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test")]
mod backends;
mod faulty;
mod hostile;
mod namespace;
mod sharing;
mod world;
