//! `cel.block`, `cel.index`, `cel.iterVar`, `cel.accuVar`: names that optimizers give, spelled in the text (cel-spec's
//! `block_ext`). A block becomes nested bindings, so that nothing after the parser knows of it.
use super::{Expansion, Macro, MacroError};
use crate::ast::{Kind, Literal, NodeId};

/// The macros of blocks.
pub fn block() -> Vec<Macro> {
    let member = |name, arguments, expand| Macro { name, receiver: true, arguments: Some(arguments), expand };
    vec![
        member("block", 2, expand_block),
        member("index", 1, |e| numbered(e, "index")),
        member("iterVar", 2, |e| numbered(e, "it")),
        member("accuVar", 2, |e| numbered(e, "ac")),
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
