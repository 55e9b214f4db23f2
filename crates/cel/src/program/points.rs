//! What a [`super::Recorder`] can be told about a program: the whole of which coverage is a part.
//!
//! Absent: what was evaluated (probe).
use super::{
    Program,
    node::{LoopKind, Node, Op, QualifierKey, Root},
};
use crate::ast::NodeId;

/// The points of a program that a recorder hears of, in no order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Points {
    /// Nodes that are evaluated. Constants are not, nor what was folded into one.
    pub evaluated: Vec<NodeId>,
    /// Nodes on which the way forks; complete coverage meets each with both outcomes.
    pub decided: Vec<NodeId>,
}

impl Program {
    /// All that a recorder can hear of.
    pub fn points(&self) -> Points {
        let mut points = Points::default();
        let mut waiting = vec![&self.root];
        while let Some(node) = waiting.pop() {
            match &node.op {
                // What is used twice counts once.
                Op::Const(_) | Op::Again(_) => continue,
                Op::Once(once) => {
                    waiting.push(&once.1);
                    continue;
                }
                _ => {}
            }
            points.evaluated.push(node.id);
            decisions(node, &mut points.decided);
            parts(node, &mut waiting);
        }
        points
    }
}

fn decisions(node: &Node, decided: &mut Vec<NodeId>) {
    let mut add = |node: &Node| {
        // A constant has one outcome only.
        if !matches!(node.op, Op::Const(_)) {
            decided.push(node.id);
        }
    };
    match &node.op {
        Op::Logic { operands, .. } => operands.iter().for_each(add),
        Op::Conditional(conditional) => add(&conditional.condition),
        Op::Loop(l) => l.predicate.iter().for_each(add),
        _ => {}
    }
}

fn parts<'n>(node: &'n Node, waiting: &mut Vec<&'n Node>) {
    match &node.op {
        Op::Const(_) | Op::Variable(_) | Op::Local(_) | Op::Again(_) | Op::Undeclared(_) => {}
        Op::Once(once) => waiting.push(&once.1),
        Op::Attribute(attribute) => {
            if let Root::Node(root) = &attribute.root {
                waiting.push(root);
            }
            waiting.extend(attribute.qualifiers.iter().filter_map(|qualifier| match &qualifier.key {
                QualifierKey::Node(key) => Some(key),
                QualifierKey::Field(_) | QualifierKey::Const(_) => None,
            }));
        }
        Op::Conditional(conditional) => waiting.extend([&conditional.condition, &conditional.yes, &conditional.no]),
        Op::Logic { operands, .. } => waiting.extend(operands),
        Op::Binary(binary) => waiting.extend([&binary.left, &binary.right]),
        Op::InSet(set) => waiting.push(&set.element),
        Op::Call(call) => waiting.extend(&call.arguments),
        Op::NotStrictlyFalse(operand) => waiting.push(operand),
        Op::Or { operands, .. } => waiting.extend([&operands.0, &operands.1]),
        Op::List(elements) => waiting.extend(elements.iter().map(|element| &element.value)),
        Op::Map { entries, .. } | Op::Object(entries) => {
            waiting.extend(entries.iter().flat_map(|entry| [&entry.key, &entry.value]));
        }
        Op::Loop(l) => {
            waiting.push(&l.range);
            waiting.extend(&l.predicate);
            match &l.kind {
                LoopKind::Quantify { .. } | LoopKind::One => {}
                LoopKind::List { element } => waiting.push(element),
                LoopKind::Map { key, value } => waiting.extend([key, value]),
                LoopKind::Entries { map } => waiting.push(map),
            }
        }
        Op::Fold(fold) => waiting.extend([&fold.range, &fold.init, &fold.condition, &fold.step, &fold.result]),
        Op::Bind(bind) => waiting.extend([&bind.init, &bind.body]),
    }
}
