//! EphemeralSchema version -> [`Plan`] (all static errors at once); Plan x inputs -> [`Outcome`].
//!
//! Absent: I/O, async, clocks, YAML, the wire types of `api`. It asks for what it needs ([`need::Need`]) and is handed it.
mod allowance;
mod budget;
mod compile;
mod decisions;
pub mod definition;
pub mod diagnostic;
pub mod evaluation;
pub mod header_fields;
pub mod kinds;
mod language;
pub mod limits;
pub mod names;
pub mod need;
pub mod outcome;
pub mod plan;
mod run;
pub mod schema;
mod select;
mod template;
pub mod url;

pub use compile::compile;
pub use evaluation::{Evaluation, Inputs, Step};
pub use outcome::Outcome;
pub use plan::Plan;
