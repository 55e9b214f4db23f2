//! `optMap` and `optFlatMap`.
//!
//! The receiver is used twice in what they become; it is one shared node (see [`crate::ast::Ast`]), where cel-go copies it.
//!
//! Absent: the syntax of optionals (`.?f`, `[?k]`, `?` entries), which is the parser's.
use super::{Expansion, Macro, MacroError};
use crate::ast::NodeId;

/// The macros of cel-go's optional types.
pub fn optional() -> Vec<Macro> {
    vec![
        Macro { name: "optMap", receiver: true, arguments: Some(2), expand: |e| opt_map(e, "optMap", true) },
        Macro { name: "optFlatMap", receiver: true, arguments: Some(2), expand: |e| opt_map(e, "optFlatMap", false) },
    ]
}

fn opt_map(e: &mut Expansion<'_>, name: &str, wrap: bool) -> Result<Option<NodeId>, MacroError> {
    let (Some(target), Some([variable, result])) = (e.target(), e.exactly()) else { return Ok(None) };
    let variable = e
        .simple_name(variable)
        .ok_or_else(|| MacroError::new(variable, format!("{name}() variable name must be a simple identifier")))?;
    let present = e.member_call(target, "hasValue", vec![]);
    let value = e.member_call(target, "value", vec![]);
    let mapped = e.bind(&variable, value, result);
    let mapped = if wrap { e.call("optional.of", vec![mapped]) } else { mapped };
    let none = e.call("optional.none", vec![]);
    Ok(Some(e.call("_?_:_", vec![present, mapped, none])))
}
