//! The standard macros: `has`, `all`, `exists`, `exists_one`, `map`, `filter`.
//!
//! Absent: their two-variable forms (`two_variable`).
use super::{ACCUMULATOR, Expansion, Fold, Macro, MacroError};
use crate::ast::{Kind, Literal, NodeId};
use std::sync::Arc;

/// The macros of the CEL specification.
pub fn standard() -> Vec<Macro> {
    vec![
        Macro {
            name: "has",
            receiver: false,
            arguments: Some(1),
            expand: has,
            form: "has(x.field) -> bool",
            doc: "Whether the field is there.",
            example: "has({'a': null}.a) && !has({'a': null}.b)",
        },
        Macro::member(
            "all",
            2,
            |e| one_variable(e, Quantifier::All),
            [
                "list(T).all(x, bool) -> bool",
                "Whether it holds for every element, of a map for every key. One that does not hold wins over errors.",
                "[1, 2].all(x, x > 0) && {'a': 1}.all(k, k == 'a')",
            ],
        ),
        Macro::member(
            "exists",
            2,
            |e| one_variable(e, Quantifier::Exists),
            [
                "list(T).exists(x, bool) -> bool",
                "Whether it holds for some element, of a map for some key. One that holds wins over errors.",
                "[1, 2].exists(x, x > 1)",
            ],
        ),
        Macro::member(
            "exists_one",
            2,
            |e| one_variable(e, Quantifier::ExistsOne),
            [
                "list(T).exists_one(x, bool) -> bool",
                "Whether it holds for exactly one element, of a map for one key.",
                "[1, 2].exists_one(x, x > 1)",
            ],
        ),
        Macro::member(
            "map",
            2,
            map,
            [
                "list(T).map(x, U) -> list(U)",
                "What the expression makes of each element, of a map of each key.",
                "[1, 2].map(x, x * 2) == [2, 4]",
            ],
        ),
        Macro::member(
            "map",
            3,
            map,
            [
                "list(T).map(x, bool, U) -> list(U)",
                "The same of those for which the condition holds.",
                "[1, 2].map(x, x > 1, x * 2) == [4]",
            ],
        ),
        Macro::member(
            "filter",
            2,
            filter,
            [
                "list(T).filter(x, bool) -> list(T)",
                "The elements for which it holds, of a map the keys.",
                "[1, 2].filter(x, x > 1) == [2]",
            ],
        ),
    ]
}

/// `existsOne`, the newer spelling of `exists_one`, which Kubernetes knows in its two-variable form only.
pub fn exists_one() -> Vec<Macro> {
    let expand = |e: &mut Expansion<'_>| one_variable(e, Quantifier::ExistsOne);
    let words =
        ["list(T).existsOne(x, bool) -> bool", "The newer spelling of `exists_one`.", "[1, 2].existsOne(x, x > 1)"];
    vec![Macro::member("existsOne", 2, expand, words)]
}

/// The folds to a truth value.
#[derive(Clone, Copy)]
pub(super) enum Quantifier {
    All,
    Exists,
    ExistsOne,
}

fn has(e: &mut Expansion<'_>) -> Result<Option<NodeId>, MacroError> {
    let Some([argument]) = e.exactly() else { return Ok(None) };
    match e.kind(argument) {
        Some(Kind::Select { operand, field, test_only: false, field_span }) => {
            let (operand, field, field_span) = (*operand, field.clone(), *field_span);
            Ok(Some(e.test(operand, field, field_span)))
        }
        _ => Err(MacroError::new(argument, "invalid argument to has() macro")),
    }
}

fn one_variable(e: &mut Expansion<'_>, quantifier: Quantifier) -> Result<Option<NodeId>, MacroError> {
    let (Some(range), Some([variable, predicate])) = (e.target(), e.exactly()) else { return Ok(None) };
    let iter_var = iteration_variable(e, variable, "argument must be a simple name")?;
    Ok(Some(quantified(e, quantifier, range, (&iter_var, None), predicate)))
}

/// An iteration variable's name; `complaint` is what cel-go says of anything else.
pub(super) fn iteration_variable(e: &Expansion<'_>, argument: NodeId, complaint: &str) -> Result<Arc<str>, MacroError> {
    let name = e.simple_name(argument).ok_or_else(|| MacroError::new(argument, complaint))?;
    if matches!(&*name, "__result__" | ACCUMULATOR) {
        return Err(MacroError::new(argument, "iteration variable overwrites accumulator variable"));
    }
    Ok(name)
}

pub(super) fn quantified(
    e: &mut Expansion<'_>,
    quantifier: Quantifier,
    range: NodeId,
    (iter_var, iter_var2): (&str, Option<&str>),
    predicate: NodeId,
) -> NodeId {
    let accumulator = |e: &mut Expansion<'_>| e.ident(ACCUMULATOR);
    let (init, condition, step, result) = match quantifier {
        Quantifier::All => {
            let init = e.literal(Literal::Bool(true));
            let so_far = accumulator(e);
            let condition = e.call("@not_strictly_false", vec![so_far]);
            let so_far = accumulator(e);
            let step = e.call("_&&_", vec![so_far, predicate]);
            (init, condition, step, accumulator(e))
        }
        Quantifier::Exists => {
            let init = e.literal(Literal::Bool(false));
            let so_far = accumulator(e);
            let none_yet = e.call("!_", vec![so_far]);
            let condition = e.call("@not_strictly_false", vec![none_yet]);
            let so_far = accumulator(e);
            let step = e.call("_||_", vec![so_far, predicate]);
            (init, condition, step, accumulator(e))
        }
        Quantifier::ExistsOne => {
            let init = e.literal(Literal::Int(0));
            let condition = e.literal(Literal::Bool(true));
            let (so_far, one) = (accumulator(e), e.literal(Literal::Int(1)));
            let counted = e.call("_+_", vec![so_far, one]);
            let so_far = accumulator(e);
            let step = e.call("_?_:_", vec![predicate, counted, so_far]);
            let (count, one) = (accumulator(e), e.literal(Literal::Int(1)));
            (init, condition, step, e.call("_==_", vec![count, one]))
        }
    };
    e.fold(Fold { range, iter_var, iter_var2, accu_var: ACCUMULATOR, init, condition, step, result })
}

fn map(e: &mut Expansion<'_>) -> Result<Option<NodeId>, MacroError> {
    let Some(range) = e.target() else { return Ok(None) };
    let (variable, predicate, element) = match *e.args() {
        [variable, element] => (variable, None, element),
        [variable, predicate, element] => (variable, Some(predicate), element),
        _ => return Ok(None),
    };
    let iter_var = iteration_variable(e, variable, "argument is not an identifier")?;
    Ok(Some(collected(e, range, (&iter_var, None), predicate, element)))
}

fn filter(e: &mut Expansion<'_>) -> Result<Option<NodeId>, MacroError> {
    let (Some(range), Some([variable, predicate])) = (e.target(), e.exactly()) else { return Ok(None) };
    let iter_var = iteration_variable(e, variable, "argument is not an identifier")?;
    Ok(Some(collected(e, range, (&iter_var, None), Some(predicate), variable)))
}

/// The list of `element` for each item that meets `predicate`.
pub(super) fn collected(
    e: &mut Expansion<'_>,
    range: NodeId,
    (iter_var, iter_var2): (&str, Option<&str>),
    predicate: Option<NodeId>,
    element: NodeId,
) -> NodeId {
    let init = e.list(vec![]);
    let condition = e.literal(Literal::Bool(true));
    let (so_far, more) = (e.ident(ACCUMULATOR), e.list(vec![element]));
    let step = e.call("_+_", vec![so_far, more]);
    folded(e, range, (iter_var, iter_var2), init, condition, predicate, step)
}

/// A fold that takes `step` for the items that meet `predicate`, and gives the accumulator.
pub(super) fn folded(
    e: &mut Expansion<'_>,
    range: NodeId,
    (iter_var, iter_var2): (&str, Option<&str>),
    init: NodeId,
    condition: NodeId,
    predicate: Option<NodeId>,
    step: NodeId,
) -> NodeId {
    let step = match predicate {
        Some(predicate) => {
            let so_far = e.ident(ACCUMULATOR);
            e.call("_?_:_", vec![predicate, step, so_far])
        }
        None => step,
    };
    let result = e.ident(ACCUMULATOR);
    e.fold(Fold { range, iter_var, iter_var2, accu_var: ACCUMULATOR, init, condition, step, result })
}
