//! EphemeralSchema version -> [`Plan`] (all static errors at once); Plan x inputs -> [`Outcome`].
//!
//! Absent: I/O, async, clocks, YAML, the wire types of `api`. It asks for what it needs ([`Need`]) and is handed it.
pub mod definition;
pub mod diagnostic;
pub mod kinds;
pub mod need;
pub mod schema;
