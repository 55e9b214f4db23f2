//! An environment: what expressions may name, and the road from text to program.
//!
//! Cheap to clone and to extend: libraries are shared, only variables differ between the expressions of a plan.
use std::sync::Arc;

use crate::{
    ast::Ast,
    check::Checked,
    library::Library,
    program::Program,
    source::Issues,
    types::{Type, TypeProvider},
};

/// Libraries, variables, types and limits that expressions are compiled against.
#[derive(Clone)]
pub struct Env;

/// Builds an [`Env`].
pub struct EnvBuilder;

impl Env {
    /// An empty environment: not even `+`. Most want [`Env::standard`].
    pub fn builder() -> EnvBuilder {
        EnvBuilder
    }
    /// The standard library, macros, optionals.
    pub fn standard() -> EnvBuilder {
        EnvBuilder
    }
    /// A builder that starts from this environment; libraries are shared, slots of variables stay.
    pub fn extend(&self) -> EnvBuilder {
        EnvBuilder
    }
    /// The slot of a variable, for [`crate::eval::Activation`]. Slots count up in the order of declaration.
    pub fn slot(&self, _variable: &str) -> Option<u32> {
        None
    }
    /// Text to tree; all syntax errors at once.
    pub fn parse(&self, _text: &str) -> Result<Ast, Issues> {
        Err(Issues(vec![]))
    }
    /// Tree to typed tree; all type errors at once.
    pub fn check(&self, _ast: Ast) -> Result<Checked, Issues> {
        Err(Issues(vec![]))
    }
    /// Typed tree to program: slots resolved, constants folded.
    pub fn program(&self, _checked: &Checked) -> Result<Program, Issues> {
        Err(Issues(vec![]))
    }
    /// Unchecked tree to program: everything is dispatched by value (cel-spec's `disable_check`).
    pub fn program_unchecked(&self, _ast: Ast) -> Result<Program, Issues> {
        Err(Issues(vec![]))
    }
}

impl EnvBuilder {
    /// Adds a library.
    pub fn library(self, _library: Library) -> EnvBuilder {
        self
    }
    /// Declares a variable (a dotted name is allowed, as in cel-spec's container tests). Redeclaring replaces the type.
    pub fn variable(self, _name: &str, _ty: Type) -> EnvBuilder {
        self
    }
    /// Where object types' fields come from.
    pub fn provider(self, _provider: Arc<dyn TypeProvider>) -> EnvBuilder {
        self
    }
    /// The container that names are resolved in: `a.b`.
    pub fn container(self, _container: &str) -> EnvBuilder {
        self
    }
    /// The environment.
    pub fn build(self) -> Env {
        Env
    }
}
