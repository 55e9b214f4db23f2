//! The Common Expression Language, usable alone: text -> [`Ast`] -> [`Checked`] -> [`Program`] -> [`Value`], with cost.
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
//! Absent: Kubernetes objects, YAML, I/O, async, clocks, threads.
pub mod ast;
pub mod check;
pub mod env;
pub mod estimate;
pub mod eval;
mod format;
#[cfg(feature = "serde")]
pub mod json;
mod lexer;
pub mod library;
pub mod limits;
pub mod macros;
mod parser;
pub mod pattern;
pub mod print;
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
