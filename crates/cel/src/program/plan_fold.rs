//! Planning folds: the shapes that the standard macros make become loops without a visible accumulator, which append in place
//! and stop early; `cel.bind` becomes a binding; anything else stays a fold.
//!
//! A loop must cost what the fold would (COST.md, A6).
//!
//! Absent: the macros themselves (macros).
use std::sync::Arc;

use super::{
    node::{Loop, LoopKind, Op},
    plan::{Build, Planner, Task},
};
use crate::{
    ast::{Comprehension, Kind, Literal, NodeId},
    source::Issues,
};

/// A loop's parts, still in the syntax tree.
pub(super) enum Shape {
    Quantify { predicate: NodeId, decisive: bool },
    One { predicate: NodeId },
    List { predicate: Option<NodeId>, element: NodeId },
    Map { predicate: Option<NodeId>, key: NodeId, value: NodeId },
    Entries { predicate: Option<NodeId>, map: NodeId },
}

impl Shape {
    /// The predicate, then what is gathered.
    fn parts(&self) -> [Option<NodeId>; 3] {
        match self {
            Shape::Quantify { predicate, .. } | Shape::One { predicate } => [Some(*predicate), None, None],
            Shape::List { predicate, element } => [*predicate, Some(*element), None],
            Shape::Map { predicate, key, value } => [*predicate, Some(*key), Some(*value)],
            Shape::Entries { predicate, map } => [*predicate, Some(*map), None],
        }
    }
}

impl Planner<'_> {
    pub(super) fn visit_fold(&mut self, id: NodeId, fold: &Comprehension) {
        let accumulator = || Some(fold.accu_var.clone());
        let two = fold.iter_var2.is_some();
        if self.is_bind(fold) {
            return self.set([
                Task::Plan(fold.accu_init),
                Task::Enter([None, None, accumulator()]),
                Task::Plan(fold.result),
                Task::Leave,
                Task::Build(id, Build::Bind),
            ]);
        }
        if let Some(shape) = self.shape(fold) {
            let parts = shape.parts();
            self.set([Task::Leave, Task::Build(id, Build::Loop { two, shape: Box::new(shape) })]);
            self.set(parts.into_iter().flatten().map(Task::Plan).collect::<Vec<_>>());
            let iteration = [Some(fold.iter_var.clone()), fold.iter_var2.clone(), None];
            return self.set([Task::Plan(fold.iter_range), Task::Enter(iteration)]);
        }
        self.set([
            Task::Plan(fold.iter_range),
            Task::Plan(fold.accu_init),
            Task::Enter([Some(fold.iter_var.clone()), fold.iter_var2.clone(), accumulator()]),
            Task::Plan(fold.loop_condition),
            Task::Plan(fold.loop_step),
            Task::Leave,
            Task::Enter([None, None, accumulator()]),
            Task::Plan(fold.result),
            Task::Leave,
            Task::Build(id, Build::Fold { two }),
        ]);
    }

    pub(super) fn looped(&mut self, two: bool, shape: &Shape) -> Result<Op, Issues> {
        let kind = match shape {
            Shape::Quantify { decisive, .. } => LoopKind::Quantify { decisive: *decisive },
            Shape::One { .. } => LoopKind::One,
            Shape::List { .. } => LoopKind::List { element: self.take_one()? },
            Shape::Map { .. } => {
                let [key, value] = self.take_array()?;
                LoopKind::Map { key, value }
            }
            Shape::Entries { .. } => LoopKind::Entries { map: self.take_one()? },
        };
        let predicate = match shape.parts() {
            [Some(_), ..] => Some(self.take_one()?),
            _ => None,
        };
        Ok(Op::Loop(Box::new(Loop { range: self.take_one()?, two, kind, predicate })))
    }

    fn is_bind(&self, fold: &Comprehension) -> bool {
        matches!(self.kind(fold.iter_range), Some(Kind::List { elements }) if elements.is_empty())
            && self.is_literal(fold.loop_condition, &Literal::Bool(false))
    }

    /// The macro's shape, read from the fold itself and not from the macro's name, so that a fold of any origin is understood.
    fn shape(&self, fold: &Comprehension) -> Option<Shape> {
        let accu = &fold.accu_var;
        if *accu == fold.iter_var || fold.iter_var2.as_ref() == Some(accu) {
            return None;
        }
        let shape = self.shape_of_step(fold)?;
        // The parts must not see the accumulator, for a loop has none. Macros' accumulators are names that no text can
        // contain.
        let hidden = accu.starts_with('@') || accu.starts_with("__");
        (hidden && shape.parts().into_iter().flatten().all(|p| !self.is_ident(p, accu))).then_some(shape)
    }

    fn shape_of_step(&self, fold: &Comprehension) -> Option<Shape> {
        let accu = &fold.accu_var;
        if let Some([condition]) = self.operands(fold.loop_condition, "@not_strictly_false") {
            let (operator, start) = match self.operands(*condition, "!_") {
                Some([negated]) if self.is_ident(*negated, accu) => ("_||_", false),
                None if self.is_ident(*condition, accu) => ("_&&_", true),
                _ => return None,
            };
            let [first, predicate] = self.operands(fold.loop_step, operator)? else { return None };
            let quantifies = self.is_ident(*first, accu)
                && self.is_ident(fold.result, accu)
                && self.is_literal(fold.accu_init, &Literal::Bool(start));
            return quantifies.then_some(Shape::Quantify { predicate: *predicate, decisive: !start });
        }
        if !self.is_literal(fold.loop_condition, &Literal::Bool(true)) {
            return None;
        }
        let (predicate, step) = match self.operands(fold.loop_step, "_?_:_") {
            Some([predicate, yes, no]) if self.is_ident(*no, accu) => (Some(*predicate), *yes),
            Some(_) => return None,
            None => (None, fold.loop_step),
        };
        if self.is_literal(fold.accu_init, &Literal::Int(0)) {
            return self.one(fold, predicate?, step);
        }
        if !self.is_ident(fold.result, accu) {
            return None;
        }
        match self.kind(fold.accu_init)? {
            Kind::List { elements } if elements.is_empty() => match self.operands(step, "_+_")? {
                [first, list] if self.is_ident(*first, accu) => match self.kind(*list)? {
                    Kind::List { elements } => match elements[..] {
                        [(element, false)] => Some(Shape::List { predicate, element }),
                        _ => None,
                    },
                    _ => None,
                },
                _ => None,
            },
            Kind::Map { entries } if entries.is_empty() => match *self.operands(step, "cel.@mapInsert")? {
                [first, key, value] if self.is_ident(first, accu) => Some(Shape::Map { predicate, key, value }),
                [first, map] if self.is_ident(first, accu) => Some(Shape::Entries { predicate, map }),
                _ => None,
            },
            _ => None,
        }
    }

    fn one(&self, fold: &Comprehension, predicate: NodeId, step: NodeId) -> Option<Shape> {
        let accu = &fold.accu_var;
        let one = &Literal::Int(1);
        let counts =
            matches!(self.operands(step, "_+_")?, [a, b] if self.is_ident(*a, accu) && self.is_literal(*b, one));
        let asks = matches!(self.operands(fold.result, "_==_")?, [a, b] if self.is_ident(*a, accu) && self.is_literal(*b, one));
        (counts && asks).then_some(Shape::One { predicate })
    }

    fn kind(&self, id: NodeId) -> Option<&Kind> {
        self.ast.node(id).map(|node| &node.kind)
    }

    fn operands(&self, id: NodeId, name: &str) -> Option<&[NodeId]> {
        match self.kind(id)? {
            Kind::Call { function, target: None, args, .. } if **function == *name => Some(args),
            _ => None,
        }
    }

    fn is_ident(&self, id: NodeId, name: &Arc<str>) -> bool {
        matches!(self.kind(id), Some(Kind::Ident(ident)) if ident == name)
    }

    fn is_literal(&self, id: NodeId, literal: &Literal) -> bool {
        matches!(self.kind(id), Some(Kind::Literal(l)) if l == literal)
    }
}
