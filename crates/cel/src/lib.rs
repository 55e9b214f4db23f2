//! The Common Expression Language, usable alone: text -> [`Ast`] -> [`Checked`] -> [`Program`] -> [`Value`], with cost.
//!
//! ```
//! use cel::{Env, Type, Value, program::Options};
//! let env = Env::standard().variable("name", Type::String).build();
//! let checked = env.check(env.parse("'hello, ' + name")?)?;
//! let evaluation = env.program(&checked)?.evaluate(&[Some(Value::from("world"))][..], Options::default());
//! assert_eq!((evaluation.result, evaluation.cost), (Ok("hello, world".into()), 3));
//! # Ok::<(), cel::Issues>(())
//! ```
//!
//! Each arrow is a type, so that no phase can be skipped by accident:
//!
//! | phase | type | by |
//! |---|---|---|
//! | parse | [`Ast`] | [`Env::parse`] |
//! | check | [`Checked`] | [`Env::check`] |
//! | plan | [`Program`] | [`Env::program`] |
//! | evaluate | [`Evaluation`] | [`Program::evaluate`] |
//!
//! Places in texts are spans of bytes ([`source::Span`]); [`source::position`] makes lines and columns of characters of them. What
//! is parsed, checked or planned owns all it needs, is cheap to clone or behind an [`Arc`](std::sync::Arc), and may be shared
//! between threads; an evaluation borrows its variables only while it runs.
//!
//! Where to look for what:
//!
//! - **What expressions may name** is an [`Env`]: libraries, variables by slots, object types from a
//!   [`types::TypeProvider`]. It is cheap to [extend](Env::extend). Errors in a text come all at once, as [`Issues`] with
//!   places and help; [`Issues::render`] prints them as cel-go does.
//! - **Functions** come in libraries: [`library`] has cel-go's and Kubernetes' ([`library::kubernetes`]), and shows how to
//!   write one. [`library::reference`] tells of each function its type, price and an example.
//! - **Cost** is Kubernetes' model. What an evaluation cost is in [`Evaluation::cost`]; it ends at the budget in
//!   [`program::Options`], whatever the expression. [`estimate`] says before evaluation what one may cost.
//! - **Unknowns**: a variable, [a part](eval::Pattern) of one, or the answer of a [`eval::Host`] to a question may be unknown.
//!   Evaluation goes on, and [`eval::Halt::Unknown`] names all that it needs.
//! - **Coverage**: a [`program::Recorder`] is told what was evaluated and decided.
//! - **Limits** on texts, types, values and work are in [`limits`]. No text and no value makes it panic, overflow a stack of
//!   2 MiB or use memory out of proportion to the budget.
//!
//! Absent: Kubernetes objects, YAML, I/O, async, clocks, threads.
#[cfg(test)]
extern crate self as cel;

pub mod ast;
pub mod check;
mod env;
pub mod estimate;
pub mod eval;
mod format;
pub mod json;
mod lexer;
pub mod library;
pub mod limits;
pub mod macros;
mod parser;
pub mod pattern;
mod print;
pub mod program;
pub mod source;
pub mod types;
pub mod value;

pub use ast::Ast;
pub use check::Checked;
pub use env::{Env, EnvBuilder};
pub use eval::Evaluation;
pub use parser::is_reserved;
pub use program::Program;
pub use source::{Issue, Issues};
pub use types::Type;
pub use value::Value;
