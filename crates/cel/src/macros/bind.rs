//! `cel.bind(name, value, expression)`.
use super::{Expansion, Macro, MacroError};
use crate::ast::NodeId;

/// The macro of cel-go's bindings extension.
pub fn bind() -> Vec<Macro> {
    vec![Macro { name: "bind", receiver: true, arguments: Some(3), expand }]
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
