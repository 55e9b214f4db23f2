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
        Macro::member(
            "optMap",
            2,
            |e| opt_map(e, "optMap", true),
            [
                "optional_type(T).optMap(x, U) -> optional_type(U)",
                "What the expression makes of the value, if there is one.",
                "optional.of(2).optMap(x, x * x) == optional.of(4)",
            ],
        ),
        Macro::member(
            "optFlatMap",
            2,
            |e| opt_map(e, "optFlatMap", false),
            [
                "optional_type(T).optFlatMap(x, optional_type(U)) -> optional_type(U)",
                "As `optMap`, by an expression that is optional itself.",
                "optional.of({'a': 1}).optFlatMap(m, m[?'b']) == optional.none()",
            ],
        ),
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
