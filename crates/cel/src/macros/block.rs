//! `cel.block`, `cel.index`, `cel.iterVar`, `cel.accuVar`: names that optimizers give, spelled in the text (cel-spec's
//! `block_ext`). A block becomes nested bindings, so that nothing after the parser knows of it.
use super::{Expansion, Macro, MacroError};
use crate::{
    ast::{Kind, Literal, NodeId},
    limits::MAX_TREE_DEPTH,
};

/// The macros of blocks.
pub fn block() -> Vec<Macro> {
    vec![
        Macro::member(
            "block",
            2,
            expand_block,
            [
                "cel.block([...], T) -> T",
                "The last argument, where `cel.index(i)` is an expression of the list; each may use those before it.",
                "cel.block([1 + 1, cel.index(0) * 2], cel.index(1)) == 4",
            ],
        ),
        Macro::member(
            "index",
            1,
            |e| numbered(e, "index"),
            ["cel.index(int) -> T", "An expression of the block.", "cel.block([7], cel.index(0)) == 7"],
        ),
        Macro::member(
            "iterVar",
            2,
            |e| numbered(e, "it"),
            [
                "cel.iterVar(int, int) -> T",
                "A variable of a macro, by how deep the macro stands and which of its variables it is.",
                "[1, 2].all(cel.iterVar(0, 0), cel.iterVar(0, 0) > 0)",
            ],
        ),
        Macro::member(
            "accuVar",
            2,
            |e| numbered(e, "ac"),
            [
                "cel.accuVar(int, int) -> T",
                "As `iterVar`, for what a macro accumulates.",
                "cel.bind(cel.accuVar(0, 0), 1, cel.accuVar(0, 0)) == 1",
            ],
        ),
    ]
}

fn expand_block(e: &mut Expansion<'_>) -> Result<Option<NodeId>, MacroError> {
    if !e.in_namespace("cel") {
        return Ok(None);
    }
    let Some([slots, result]) = e.exactly() else { return Ok(None) };
    let Some(Kind::List { elements }) = e.kind(slots) else {
        return Err(MacroError::new(slots, "cel.block requires the first arg to be a list literal"));
    };
    if elements.len() > MAX_TREE_DEPTH {
        return Err(MacroError::new(slots, format!("cel.block takes at most {MAX_TREE_DEPTH} expressions")));
    }
    let slots: Vec<NodeId> = elements.iter().map(|(slot, _)| *slot).collect();
    let bound =
        slots.iter().enumerate().rev().fold(result, |result, (i, slot)| e.bind(&format!("@index{i}"), *slot, result));
    Ok(Some(bound))
}

/// `cel.index(1)` is the name `@index1`, `cel.iterVar(0, 1)` is `@it:0:1`.
fn numbered(e: &mut Expansion<'_>, prefix: &str) -> Result<Option<NodeId>, MacroError> {
    if !e.in_namespace("cel") {
        return Ok(None);
    }
    let mut numbers = vec![];
    for &argument in e.args() {
        match e.kind(argument) {
            Some(Kind::Literal(Literal::Int(n))) if *n >= 0 => numbers.push(n.to_string()),
            _ => return Err(MacroError::new(argument, "argument must be a non-negative int literal")),
        }
    }
    let name = match numbers.as_slice() {
        [one] => format!("@{prefix}{one}"),
        many => format!("@{prefix}:{}", many.join(":")),
    };
    Ok(Some(e.ident(&name)))
}
