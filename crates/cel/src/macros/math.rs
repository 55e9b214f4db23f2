//! `math.greatest`, `math.least`: variadic, so macros over `math.@max` and `math.@min`.
use super::{Expansion, Macro, MacroError};
use crate::ast::{Kind, Literal, NodeId};

/// The macros of cel-go's math extension.
pub fn math() -> Vec<Macro> {
    vec![
        Macro {
            name: "greatest",
            receiver: true,
            arguments: None,
            expand: |e| extreme(e, "math.greatest()", "math.@max"),
            form: "math.greatest(number, ...) -> number",
            doc: "The greatest of one or more numbers, or of a list of them.",
            example: "math.greatest(1, 3, 2) == 3",
        },
        Macro {
            name: "least",
            receiver: true,
            arguments: None,
            expand: |e| extreme(e, "math.least()", "math.@min"),
            form: "math.least(number, ...) -> number",
            doc: "The least of one or more numbers, or of a list of them.",
            example: "math.least([3, 1, 2]) == 1",
        },
    ]
}

fn extreme(e: &mut Expansion<'_>, name: &str, function: &str) -> Result<Option<NodeId>, MacroError> {
    let Some(target) = e.target().filter(|_| e.in_namespace("math")) else { return Ok(None) };
    let args = match *e.args() {
        [] => return Err(MacroError::new(target, format!("{name} requires at least one argument"))),
        [only] => {
            if !numeric_or_unknown(e, only) && !list_of_numbers(e, only) {
                return Err(MacroError::new(only, format!("{name} invalid single argument value")));
            }
            vec![only]
        }
        [first, second] => {
            all_numeric(e, name)?;
            vec![first, second]
        }
        _ => {
            all_numeric(e, name)?;
            vec![e.list(e.args().to_vec())]
        }
    };
    Ok(Some(e.call(function, args)))
}

fn all_numeric(e: &Expansion<'_>, name: &str) -> Result<(), MacroError> {
    match e.args().iter().find(|&&argument| !numeric_or_unknown(e, argument)) {
        Some(&bad) => Err(MacroError::new(bad, format!("{name} simple literal arguments must be numeric"))),
        None => Ok(()),
    }
}

/// Whether what is seen without types does not forbid a number.
fn numeric_or_unknown(e: &Expansion<'_>, argument: NodeId) -> bool {
    match e.kind(argument) {
        Some(Kind::Literal(literal)) => matches!(literal, Literal::Int(_) | Literal::Uint(_) | Literal::Double(_)),
        Some(Kind::List { .. } | Kind::Map { .. } | Kind::Struct { .. }) => false,
        _ => true,
    }
}

fn list_of_numbers(e: &Expansion<'_>, argument: NodeId) -> bool {
    match e.kind(argument) {
        Some(Kind::List { elements }) => {
            !elements.is_empty() && elements.iter().all(|(element, _)| numeric_or_unknown(e, *element))
        }
        _ => false,
    }
}
