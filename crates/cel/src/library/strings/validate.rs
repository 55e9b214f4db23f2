//! What can be said of a literal format string before it runs.
//!
//! Absent: formatting (format).
use super::format::{Piece, Version, accepts, next_piece, refusal};
use crate::{
    Checked, Issue,
    ast::{Kind, Literal, NodeId},
    library::build::runtime_name,
};

pub(super) fn newer(checked: &Checked, call: NodeId, issues: &mut Vec<Issue>) {
    validate(Version::Newer, checked, call, issues);
}

pub(super) fn older(checked: &Checked, call: NodeId, issues: &mut Vec<Issue>) {
    validate(Version::Older, checked, call, issues);
}

/// Only the first mistake is told, as upstream does.
fn validate(version: Version, checked: &Checked, call: NodeId, issues: &mut Vec<Issue>) {
    let ast = checked.ast();
    let Some(Kind::Call { target: Some(format), args, .. }) = ast.node(call).map(|node| &node.kind) else { return };
    let Some(Kind::Literal(Literal::String(format))) = ast.node(*format).map(|node| &node.kind) else { return };
    let [list] = args.as_slice() else { return };
    let Some(Kind::List { elements }) = ast.node(*list).map(|node| &node.kind) else { return };
    let mut report = |at: NodeId, message: String| {
        if let Some(node) = ast.node(at) {
            issues.push(Issue { span: node.span, at: Some(node.at), message, help: None });
        }
    };
    let (mut rest, mut used) = (&**format, 0);
    while let Some(piece) = next_piece(&mut rest, used, elements.len()) {
        match piece {
            Err(message) => return report(call, message),
            Ok(Piece::Text(_)) => {}
            Ok(Piece::Clause(clause)) => {
                if let Some((element, _)) = elements.get(used)
                    && let Some(ty) = checked.type_of(*element)
                    && !accepts(version, clause.verb, ty)
                {
                    return report(*element, refusal(clause.verb, &runtime_name(ty)));
                }
                used += 1;
            }
        }
    }
    if used < elements.len() {
        let got = elements.len();
        report(call, format!("too many arguments supplied to string.format (expected {used}, got {got})"));
    }
}
