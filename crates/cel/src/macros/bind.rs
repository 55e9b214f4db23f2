//! `cel.bind(name, value, expression)`.
use super::{Expansion, Macro, MacroError};
use crate::ast::NodeId;

/// The macro of cel-go's bindings extension.
pub fn bind() -> Vec<Macro> {
    let words = [
        "cel.bind(name, T, U) -> U",
        "The last argument, where the name stands for the value, which is computed once.",
        "cel.bind(x, 2 + 1, x * x) == 9",
    ];
    vec![Macro::member("bind", 3, expand, words)]
}

fn expand(e: &mut Expansion<'_>) -> Result<Option<NodeId>, MacroError> {
    if !e.in_namespace("cel") {
        return Ok(None);
    }
    let Some([variable, init, result]) = e.exactly() else { return Ok(None) };
    let variable = e
        .simple_name(variable)
        .ok_or_else(|| MacroError::new(variable, "cel.bind() variable names must be simple identifiers"))?;
    Ok(Some(e.bind(&variable, init, result)))
}
