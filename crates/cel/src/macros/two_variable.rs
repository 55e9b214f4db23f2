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
    vec![
        Macro::member(
            "all",
            3,
            |e| quantifier(e, Quantifier::All),
            [
                "list(T).all(i, x, bool) -> bool",
                "Whether it holds for every index and element, of a map for every key and value.",
                "[5, 6].all(i, x, x == i + 5) && {'a': 1}.all(k, v, v == 1)",
            ],
        ),
        Macro::member(
            "exists",
            3,
            |e| quantifier(e, Quantifier::Exists),
            [
                "list(T).exists(i, x, bool) -> bool",
                "Whether it holds for some.",
                "{'a': 1, 'b': 2}.exists(k, v, k == 'b' && v == 2)",
            ],
        ),
        Macro::member(
            "existsOne",
            3,
            |e| quantifier(e, Quantifier::ExistsOne),
            [
                "list(T).existsOne(i, x, bool) -> bool",
                "Whether it holds for exactly one.",
                "[1, 1].existsOne(i, x, x > i)",
            ],
        ),
        Macro::member(
            "exists_one",
            3,
            |e| quantifier(e, Quantifier::ExistsOne),
            [
                "list(T).exists_one(i, x, bool) -> bool",
                "The older spelling of `existsOne`.",
                "[1, 1].exists_one(i, x, x > i)",
            ],
        ),
        Macro::member(
            "transformList",
            3,
            transform_list,
            [
                "list(T).transformList(i, x, U) -> list(U)",
                "What the expression makes of each index and element, of a map of each key and value.",
                "[5, 6].transformList(i, x, x * i) == [0, 6]",
            ],
        ),
        Macro::member(
            "transformList",
            4,
            transform_list,
            [
                "list(T).transformList(i, x, bool, U) -> list(U)",
                "The same of those for which the condition holds.",
                "{'a': 1, 'b': 2}.transformList(k, v, v > 1, k) == ['b']",
            ],
        ),
        Macro::member(
            "transformMap",
            3,
            |e| transform_map(e, false),
            [
                "map(K, V).transformMap(k, v, U) -> map(K, U)",
                "The keys with what the expression makes of each key and value; a list's keys are its indexes.",
                "{'a': 1}.transformMap(k, v, v + 1) == {'a': 2}",
            ],
        ),
        Macro::member(
            "transformMap",
            4,
            |e| transform_map(e, false),
            [
                "map(K, V).transformMap(k, v, bool, U) -> map(K, U)",
                "The same of those for which the condition holds.",
                "{'a': 1, 'b': 2}.transformMap(k, v, v > 1, v) == {'b': 2}",
            ],
        ),
        Macro::member(
            "transformMapEntry",
            3,
            |e| transform_map(e, true),
            [
                "map(K, V).transformMapEntry(k, v, map(L, U)) -> map(L, U)",
                "The maps that the expression makes, as one; an error where a key is made twice.",
                "['a', 'b'].transformMapEntry(i, x, {x: i}) == {'a': 0, 'b': 1}",
            ],
        ),
        Macro::member(
            "transformMapEntry",
            4,
            |e| transform_map(e, true),
            [
                "map(K, V).transformMapEntry(k, v, bool, map(L, U)) -> map(L, U)",
                "The same of those for which the condition holds.",
                "{'a': 1, 'b': 2}.transformMapEntry(k, v, v > 1, {v: k}) == {2: 'b'}",
            ],
        ),
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
