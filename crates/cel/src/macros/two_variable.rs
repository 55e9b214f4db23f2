//! Comprehensions over two variables, index and element or key and value: cel-go's `TwoVarComprehensions`.
//!
//! Absent: the function `cel.@mapInsert` that they use (library).
use std::sync::Arc;

use super::{
    ACCUMULATOR, Expansion, Macro, MacroError,
    standard::{Quantifier, collected, folded, iteration_variable, quantified},
};
use crate::ast::{Literal, NodeId};

/// `all`, `exists`, `existsOne` (and `exists_one`), `transformList`, `transformMap`, `transformMapEntry`.
pub fn two_variable() -> Vec<Macro> {
    let member = |name, arguments, expand| Macro { name, receiver: true, arguments: Some(arguments), expand };
    vec![
        member("all", 3, |e| quantifier(e, Quantifier::All)),
        member("exists", 3, |e| quantifier(e, Quantifier::Exists)),
        member("existsOne", 3, |e| quantifier(e, Quantifier::ExistsOne)),
        member("exists_one", 3, |e| quantifier(e, Quantifier::ExistsOne)),
        member("transformList", 3, transform_list),
        member("transformList", 4, transform_list),
        member("transformMap", 3, |e| transform_map(e, false)),
        member("transformMap", 4, |e| transform_map(e, false)),
        member("transformMapEntry", 3, |e| transform_map(e, true)),
        member("transformMapEntry", 4, |e| transform_map(e, true)),
    ]
}

fn variables(e: &Expansion<'_>, first: NodeId, second: NodeId) -> Result<(Arc<str>, Arc<str>), MacroError> {
    const COMPLAINT: &str = "argument must be a simple name";
    let one = iteration_variable(e, first, COMPLAINT)?;
    let two = iteration_variable(e, second, COMPLAINT)?;
    if one == two {
        return Err(MacroError::new(second, format!("duplicate variable name: {two}")));
    }
    Ok((one, two))
}

fn quantifier(e: &mut Expansion<'_>, quantifier: Quantifier) -> Result<Option<NodeId>, MacroError> {
    let (Some(range), Some([first, second, predicate])) = (e.target(), e.exactly()) else { return Ok(None) };
    let (one, two) = variables(e, first, second)?;
    Ok(Some(quantified(e, quantifier, range, (&one, Some(&two)), predicate)))
}

/// The variables, the filter if there is one, and what each item becomes.
type Transform = (Arc<str>, Arc<str>, Option<NodeId>, NodeId);

fn transform(e: &Expansion<'_>) -> Result<Option<Transform>, MacroError> {
    let (first, second, predicate, element) = match *e.args() {
        [first, second, element] => (first, second, None, element),
        [first, second, predicate, element] => (first, second, Some(predicate), element),
        _ => return Ok(None),
    };
    let (one, two) = variables(e, first, second)?;
    Ok(Some((one, two, predicate, element)))
}

fn transform_list(e: &mut Expansion<'_>) -> Result<Option<NodeId>, MacroError> {
    let (Some(range), Some((one, two, predicate, element))) = (e.target(), transform(e)?) else { return Ok(None) };
    Ok(Some(collected(e, range, (&one, Some(&two)), predicate, element)))
}

fn transform_map(e: &mut Expansion<'_>, entries: bool) -> Result<Option<NodeId>, MacroError> {
    let (Some(range), Some((one, two, predicate, element))) = (e.target(), transform(e)?) else { return Ok(None) };
    let init = e.empty_map();
    let condition = e.literal(Literal::Bool(true));
    let so_far = e.ident(ACCUMULATOR);
    let args = if entries { vec![so_far, element] } else { vec![so_far, e.ident(&one), element] };
    let step = e.call("cel.@mapInsert", args);
    Ok(Some(folded(e, range, (&one, Some(&two)), init, condition, predicate, step)))
}
