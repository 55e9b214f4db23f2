//! List and map literals of one type throughout, which Kubernetes demands: cel-go's
//! `ValidateHomogeneousAggregateLiterals`. The arguments of `format` are exempt.
//!
//! Absent: the joining of types (walk).
use super::Checked;
use crate::{
    ast::{Kind, NodeId},
    source::{Found, Issue},
    types::Type,
};

pub(super) fn validate(checked: &Checked, issues: &mut Found) {
    for id in outside_format(checked) {
        match checked.ast.node(id).map(|node| &node.kind) {
            Some(Kind::List { elements }) => same(checked, elements.iter().copied(), issues),
            Some(Kind::Map { entries }) => {
                same(checked, entries.iter().map(|entry| (entry.key, false)), issues);
                same(checked, entries.iter().map(|entry| (entry.value, entry.optional)), issues);
            }
            _ => {}
        }
    }
}

/// The nodes that are not below a call of `format`.
fn outside_format(checked: &Checked) -> Vec<NodeId> {
    let mut seen = vec![false; checked.ast.nodes().len()];
    let mut open = vec![checked.ast.root()];
    let mut reached = vec![];
    while let Some(id) = open.pop() {
        match seen.get_mut(id.0 as usize) {
            Some(seen @ false) => *seen = true,
            _ => continue,
        }
        reached.push(id);
        match checked.ast.node(id).map(|node| &node.kind) {
            Some(Kind::Call { function, .. }) if &**function == "format" => {}
            Some(kind) => kind.for_each_child(|child| open.push(child)),
            None => {}
        }
    }
    reached
}

/// Reports the first that differs from the first of all.
fn same(checked: &Checked, parts: impl Iterator<Item = (NodeId, bool)>, issues: &mut Found) {
    let mut parts = parts.filter_map(|(id, optional)| match checked.type_of(id)? {
        Type::Optional(inner) if optional => Some((id, &**inner)),
        ty => Some((id, ty)),
    });
    let Some((_, first)) = parts.next() else { return };
    let Some((id, other)) = parts.find(|(_, ty)| !equivalent(first, ty)) else { return };
    let Some(node) = checked.ast.node(id) else { return };
    issues.push(Issue {
        span: node.span,
        at: Some(node.at),
        message: format!("expected type '{first}' but found '{other}'"),
        help: Some("dyn(...) around each makes them fit".to_owned()),
    });
}

/// Equality that takes a nullable scalar for the scalar.
fn equivalent(one: &Type, two: &Type) -> bool {
    fn scalar(ty: &Type) -> &Type {
        if let Type::Wrapper(inner) = ty { inner } else { ty }
    }
    scalar(one) == scalar(two)
}
