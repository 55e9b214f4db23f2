//! `list.sortBy(x, key)`.
use super::{Expansion, Macro, MacroError, standard};
use crate::ast::{Kind, NodeId};

/// The macro of cel-go's lists extension.
pub fn sort_by() -> Vec<Macro> {
    let words = [
        "list(T).sortBy(x, K) -> list(T)",
        "The elements in the order of their keys; equal ones stay in theirs.",
        "['ccc', 'a', 'bb'].sortBy(s, s.size()) == ['a', 'bb', 'ccc']",
    ];
    vec![Macro::member("sortBy", 2, expand, words)]
}

fn expand(e: &mut Expansion<'_>) -> Result<Option<NodeId>, MacroError> {
    const INPUT: &str = "@__sortBy_input__";
    let (Some(target), Some([variable, key])) = (e.target(), e.exactly()) else { return Ok(None) };
    match e.kind(target) {
        Some(Kind::List { .. } | Kind::Ident(_) | Kind::Comprehension(_) | Kind::Call { .. } | Kind::Select { .. }) => {
        }
        _ => {
            let complaint =
                "sortBy can only be applied to a list, identifier, comprehension, call or select expression";
            return Err(MacroError::new(target, complaint));
        }
    }
    let variable = standard::iteration_variable(e, variable, "argument is not an identifier")?;
    let range = e.ident(INPUT);
    let keys = standard::collected(e, range, (&variable, None), None, key);
    let input = e.ident(INPUT);
    let sorted = e.member_call(input, "@sortByAssociatedKeys", vec![keys]);
    Ok(Some(e.bind(INPUT, target, sorted)))
}
