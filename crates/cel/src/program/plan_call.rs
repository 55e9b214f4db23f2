//! Planning calls: operators, functions and methods get their code; conversions of constants are folded.
//!
//! Absent: functions themselves (library).
use std::sync::Arc;

use super::{
    node::{Binary, BinaryOp, Call, Candidate, Code, Fit, InSet, Known, Node, Op, Target},
    plan::{Build, Planner},
    run_call,
};
use crate::{
    ast::{Kind, NodeId},
    check::Reference,
    eval::Context,
    library::{Function, Overload},
    source::Issues,
    types::Type,
    value::{Key, List, MapBuilder, Value},
};

/// Functions of one argument that are folded over a constant.
const CONVERSIONS: [&str; 10] =
    ["bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"];

/// Functions with one implementation whatever the types, so that cel-go evaluates all their arguments.
const SINGLE: [&str; 5] = ["size", "matches", "contains", "startsWith", "endsWith"];

impl Planner<'_> {
    pub(super) fn visit_call(
        &mut self,
        id: NodeId,
        function: &Arc<str>,
        receiver: Option<NodeId>,
        args: &[NodeId],
    ) -> Result<(), Issues> {
        let build = match (&**function, receiver, args) {
            ("_[_]" | "_?._" | "_[?_]", None, [_, _]) => return self.visit_attribute(id),
            ("_&&_", None, args) => return self.visit_logic(id, function, args, false),
            ("_||_", None, args) => return self.visit_logic(id, function, args, true),
            ("_?_:_", None, [_, _, _]) => Build::Conditional,
            ("@not_strictly_false" | "__not_strictly_false__", None, [_]) => Build::NotStrictlyFalse,
            ("or" | "orValue", Some(_), [_]) => Build::Or { unwrap: &**function == "orValue" },
            (name, None, [_, _]) if binary_op(name).is_some() => {
                let op = binary_op(name).unwrap_or(BinaryOp::Equal);
                let mut target = self.target(id, function, None).0;
                if !target.resolved && !op.is_arithmetic() {
                    // The evaluator compares by itself; the overloads would only take room.
                    target.candidates = Arc::default();
                }
                Build::Binary(op, Box::new(target))
            }
            _ => {
                let (target, receiver) = self.target(id, function, receiver);
                let (arguments, member) = (args.len() + usize::from(receiver.is_some()), receiver.is_some());
                let build = Build::Function { target: Box::new(target), arguments, member };
                self.parts(id, build, receiver.into_iter().chain(args.iter().copied()));
                return Ok(());
            }
        };
        self.parts(id, build, receiver.into_iter().chain(args.iter().copied()));
        Ok(())
    }

    /// `&&` and `||`: chains are balanced trees of the parser's; the operands in order are all that counts.
    fn visit_logic(&mut self, id: NodeId, function: &str, args: &[NodeId], decisive: bool) -> Result<(), Issues> {
        let mut operands = Vec::with_capacity(args.len());
        let mut waiting: Vec<NodeId> = args.iter().rev().copied().collect();
        while let Some(at) = waiting.pop() {
            match &self.ast_node(at)?.kind {
                Kind::Call { function: inner, target: None, args, .. } if **inner == *function => {
                    waiting.extend(args.iter().rev());
                }
                _ => operands.push(at),
            }
        }
        self.parts(id, Build::Logic { operands: operands.len(), decisive }, operands.into_iter());
        Ok(())
    }

    pub(super) fn binary(&mut self, id: NodeId, op: BinaryOp, target: Target) -> Result<Op, Issues> {
        let [left, right] = self.take_array()?;
        if op == BinaryOp::In
            && let (Op::Const(Value::List(list)), Some("in_list")) = (&right.op, self.single_overload(id))
        {
            if list.is_empty() {
                return Ok(Op::Const(Value::Bool(false)));
            }
            if let Some((keys, fractions)) = constant_set(list) {
                return Ok(Op::InSet(Box::new(InSet {
                    element: left,
                    keys: keys.build(),
                    fractions: fractions.into(),
                })));
            }
        }
        let takes_numbers = |c: &Candidate| {
            let takes = |known| c.parameters.iter().all(|fit| matches!(fit, Fit::Any) || *fit == known);
            takes(Fit::Int) || takes(Fit::Double)
        };
        let of_numbers = op.is_arithmetic() && target.candidates.iter().any(takes_numbers);
        Ok(Op::Binary(Box::new(Binary { op, left, right, target, of_numbers })))
    }

    pub(super) fn function(
        &mut self,
        id: NodeId,
        target: Target,
        arguments: usize,
        member: bool,
    ) -> Result<Op, Issues> {
        let arguments = self.take(arguments)?;
        let constants: Vec<Option<&Value>> = arguments.iter().map(constant).collect();
        if let ([Some(value)], false) = (&constants[..], member)
            && CONVERSIONS.contains(&&*target.function)
        {
            let mut context = Context::new(u64::MAX, None);
            let folded = run_call::apply(&target, None, &mut context, std::slice::from_ref(*value));
            return folded.map(Op::Const).map_err(|halt| self.halt_issue(id, &halt));
        }
        let specialized = self.specialize(id, &constants)?;
        let single = target.resolved || SINGLE.contains(&&*target.function);
        let all_arguments = arguments.len() <= 2 && single && specialized.is_none();
        let known = match (&*target.function, &*target.candidates) {
            ("!_", [_]) => Some(Known::Not),
            ("hasValue", [_]) => Some(Known::HasValue),
            ("size", [_]) => Some(Known::Size),
            ("-_", [_, ..]) => Some(Known::Negate),
            ("@sortByAssociatedKeys", [_, ..]) => Some(Known::SortByKeys),
            ("startsWith", [_]) => Some(Known::StartsWith),
            ("endsWith", [_]) => Some(Known::EndsWith),
            ("contains", [_]) => Some(Known::Contains),
            _ => None,
        };
        Ok(Op::Call(Box::new(Call { target, arguments: arguments.into(), all_arguments, known, specialized })))
    }

    /// Code made from constant arguments, if the call has one overload only.
    fn specialize(&mut self, id: NodeId, constants: &[Option<&Value>]) -> Result<Option<Code>, Issues> {
        if constants.iter().all(Option::is_none) {
            return Ok(None);
        }
        let overload = self.single_overload(id).and_then(|id| self.env.function_and_overload(id));
        match overload
            .and_then(|(_, overload)| overload.specialize)
            .map(|specialize| specialize(constants, &mut self.effort))
        {
            Some(Ok(code)) => Ok(code.map(Code)),
            Some(Err(message)) => Err(self.issue(id, message)),
            None => Ok(None),
        }
    }

    /// The one overload that the checker left.
    fn single_overload(&self, id: NodeId) -> Option<&'static str> {
        match self.reference(id) {
            Some(Reference::Overloads(ids)) => match ids[..] {
                [id] => Some(id),
                _ => None,
            },
            _ => None,
        }
    }

    /// What a call may call, and the receiver if it is one: that of `math.greatest(1)` is part of the function's name.
    fn target(&mut self, id: NodeId, name: &Arc<str>, receiver: Option<NodeId>) -> (Target, Option<NodeId>) {
        if let Some(Reference::Overloads(ids)) = self.reference(id) {
            let first = ids.first().and_then(|id| self.env.function_and_overload(id));
            let member = first.is_none_or(|(_, overload)| overload.member);
            let function = first.map_or(name, |(function, _)| &function.name).clone();
            let ids = ids.clone();
            let candidates = self.candidates(&ids);
            let resolved = candidates.len() == 1;
            return (Target { function, candidates, resolved }, receiver.filter(|_| member));
        }
        let namespaced = receiver.and_then(|receiver| self.dotted(receiver)).map(|space| format!("{space}.{name}"));
        let global = match (&namespaced, receiver) {
            (Some(name), _) => self.function_named(name),
            (None, None) => self.function_named(name),
            (None, Some(_)) => None,
        };
        let (function, member) = match global {
            Some(function) => (Some(function), false),
            None => (self.env.function(name), receiver.is_some()),
        };
        let overloads = function.map_or(&[][..], |function| &function.overloads);
        let ids: Arc<[&'static str]> = overloads.iter().filter(|o| o.member == member).map(|o| o.id).collect();
        let function = function.map_or(name, |function| &function.name).clone();
        let candidates = self.candidates(&ids);
        (Target { function, candidates, resolved: false }, receiver.filter(|_| member))
    }

    /// What evaluation knows of overloads: made once, however often they are called.
    fn candidates(&mut self, ids: &Arc<[&'static str]>) -> Arc<[Candidate]> {
        if let Some(known) = self.candidates.get(ids) {
            return known.clone();
        }
        let overloads = ids.iter().filter_map(|id| self.env.function_and_overload(id));
        let candidates: Arc<[Candidate]> = overloads.map(|(_, overload)| candidate(overload)).collect();
        self.candidates.insert(ids.clone(), candidates.clone());
        candidates
    }

    /// The text of an identifier or select chain that is no local variable.
    pub(super) fn dotted(&self, id: NodeId) -> Option<String> {
        let mut parts = vec![];
        let mut at = id;
        loop {
            match &self.ast.node(at)?.kind {
                Kind::Select { operand, field, test_only: false, .. } => {
                    parts.push(&**field);
                    at = *operand;
                }
                Kind::Ident(name) if self.local(name).is_none() => {
                    parts.push(name);
                    break;
                }
                _ => return None,
            }
        }
        parts.reverse();
        Some(parts.join("."))
    }

    fn function_named(&self, name: &str) -> Option<&Function> {
        if let Some(absolute) = name.strip_prefix('.') {
            return self.env.function(absolute);
        }
        let mut container = self.env.container();
        while !container.is_empty() {
            if let Some(found) = self.env.function(&format!("{container}.{name}")) {
                return Some(found);
            }
            container = container.rsplit_once('.').map_or("", |(outer, _)| outer);
        }
        self.env.function(name)
    }
}

fn candidate(overload: &Overload) -> Candidate {
    Candidate {
        parameters: overload.params.iter().map(fit).collect(),
        code: overload.implementation,
        cost: overload.cost,
    }
}

pub(super) fn fit(ty: &Type) -> Fit {
    match ty {
        Type::Dyn | Type::Error | Type::Param(_) => Fit::Any,
        Type::Null => Fit::Null,
        Type::Bool => Fit::Bool,
        Type::Int => Fit::Int,
        Type::Uint => Fit::Uint,
        Type::Double => Fit::Double,
        Type::String => Fit::String,
        Type::Bytes => Fit::Bytes,
        Type::Timestamp => Fit::Timestamp,
        Type::Duration => Fit::Duration,
        Type::Wrapper(inner) => Fit::Nullable(Box::new(fit(inner))),
        Type::List(_) => Fit::List,
        Type::Map(_) | Type::Object(_) => Fit::Map,
        Type::Optional(_) => Fit::Optional,
        Type::Type(_) => Fit::Type,
        Type::Opaque(name, _) => Fit::Opaque(name.clone()),
    }
}

fn constant(node: &Node) -> Option<&Value> {
    match &node.op {
        Op::Const(value) => Some(value),
        _ => None,
    }
}

/// The operands of an `in` that is a look-up; none if some are no bool, number or string.
fn constant_set(list: &List) -> Option<(MapBuilder, Vec<f64>)> {
    let mut keys = MapBuilder::with_capacity(list.len());
    let mut fractions = vec![];
    for value in list {
        match (Key::lookup(value), value) {
            (Some(key), _) => {
                keys.insert(key, Value::Null);
            }
            (None, Value::Double(d)) => fractions.push(*d),
            _ => return None,
        }
    }
    Some((keys, fractions))
}

fn binary_op(function: &str) -> Option<BinaryOp> {
    Some(match function {
        "_==_" => BinaryOp::Equal,
        "_!=_" => BinaryOp::NotEqual,
        "_<_" => BinaryOp::Less,
        "_<=_" => BinaryOp::LessEqual,
        "_>_" => BinaryOp::Greater,
        "_>=_" => BinaryOp::GreaterEqual,
        "_+_" => BinaryOp::Add,
        "_-_" => BinaryOp::Subtract,
        "_*_" => BinaryOp::Multiply,
        "_/_" => BinaryOp::Divide,
        "_%_" => BinaryOp::Modulo,
        "@in" | "_in_" => BinaryOp::In,
        _ => return None,
    })
}
