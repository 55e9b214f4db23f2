//! Which inputs an expression reads: the paths that start at a variable and go on through fields and constant keys.
//!
//! Absent: the values at the paths.
use std::{collections::HashSet, sync::Arc};

use super::{AttributePath, Checked, Reference};
use crate::ast::{Kind, Literal, NodeId};

pub(super) fn read_by(checked: &Checked) -> Vec<AttributePath> {
    let mut seen = HashSet::new();
    let mut open = vec![checked.ast.root()];
    let mut paths = vec![];
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        match path(checked, id) {
            Some(path) => paths.push(path),
            None => {
                if let Some(node) = checked.ast.node(id) {
                    node.kind.for_each_child(|child| open.push(child));
                }
            }
        }
    }
    paths.sort();
    paths.dedup();
    // In the order of fields, a path comes right before what it is a prefix of.
    let mut kept: Vec<AttributePath> = vec![];
    for path in paths {
        let covered =
            kept.last().is_some_and(|last| last.variable == path.variable && path.fields.starts_with(&last.fields));
        if !covered {
            kept.push(path);
        }
    }
    kept
}

/// The path that a node reads as a whole, if it is one.
fn path(checked: &Checked, id: NodeId) -> Option<AttributePath> {
    let mut fields: Vec<Arc<str>> = vec![];
    let mut next = id;
    loop {
        let reference = checked.reference(next);
        if let Some(Reference::Variable(variable)) = reference {
            fields.reverse();
            return Some(AttributePath { variable: variable.clone(), fields });
        }
        let known = match reference {
            Some(Reference::Field(key)) => Some(key.clone()),
            _ => None,
        };
        match &checked.ast.node(next)?.kind {
            Kind::Select { operand, field, .. } => {
                fields.push(known.unwrap_or_else(|| field.clone()));
                next = *operand;
            }
            Kind::Call { target: None, function, args, .. } if matches!(&**function, "_[_]" | "_?._" | "_[?_]") => {
                let [operand, key] = args.as_slice() else { return None };
                let Kind::Literal(Literal::String(key)) = &checked.ast.node(*key)?.kind else { return None };
                fields.push(known.unwrap_or_else(|| key.clone()));
                next = *operand;
            }
            _ => return None,
        }
    }
}
