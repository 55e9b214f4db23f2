//! Which overloads a call means.
//!
//! Absent: arguments' own types (walk).
use std::sync::Arc;

use super::{Checker, Reference, unify::Ty};
use crate::{
    ast::{Kind, NodeId},
    library::Function,
};

/// A function by its name, whether it is called as a method, and the arguments' types.
pub(super) type CallKey = (Arc<str>, bool, Box<[Ty]>);

/// A call's overloads and its type.
pub(super) type Resolved = (Arc<[&'static str]>, Ty);

impl Checker<'_> {
    /// Settles a call whose arguments have their types. Its result's type, or the error type.
    pub(super) fn call(&mut self, id: NodeId) -> Ty {
        let ast = self.ast.clone();
        let Some(Kind::Call { target, function: name, args, name_span }) = ast.node(id).map(|node| &node.kind) else {
            return Ty::ERROR;
        };
        let (target, function) = match self.renamed.get(&id) {
            // `math.greatest(x)`: the receiver is a part of the name.
            Some(full) => (None, self.env.function(full)),
            None => (*target, self.function(name)),
        };
        let Some(function) = function else {
            // What is before the dot has its help already: both errors are of one mistake.
            let is_helped = target.is_some_and(|target| self.misnamed.contains_key(&target));
            let help = if is_helped { None } else { self.help_for_function(name, target.is_some(), args.len()) };
            self.undeclared(id, *name_span, name, help);
            return Ty::ERROR;
        };
        let operands: Vec<NodeId> = target.iter().chain(args).copied().collect();
        if matches!(&**name, "_&&_" | "_||_") {
            return self.logic(id, function, &operands);
        }
        if target.is_none() && *name != function.name {
            self.renamed.insert(id, function.name.clone());
        }
        let types: Vec<Ty> = operands.iter().map(|operand| self.type_of(*operand)).collect();
        self.resolve(id, function, &types, target.is_some())
    }

    /// Both sides of `&&` and `||` are looked at, each with an error of its own.
    fn logic(&mut self, id: NodeId, function: &Function, operands: &[NodeId]) -> Ty {
        let mut result = Ty::BOOL;
        for operand in operands {
            let ty = self.type_of(*operand);
            if !self.types.assignable(ty, Ty::BOOL) {
                self.mismatch(*operand, Ty::BOOL, ty);
                result = Ty::ERROR;
            }
        }
        let overloads = function.overloads.iter().map(|overload| overload.id).collect();
        self.refer(id, Reference::Overloads(overloads));
        result
    }

    fn resolve(&mut self, id: NodeId, function: &Function, args: &[Ty], member: bool) -> Ty {
        // With types that are wholly known the answer is always the same, and long texts repeat themselves.
        let is_known = args.iter().all(|arg| self.types.is_known(*arg));
        let key: Option<CallKey> = is_known.then(|| (function.name.clone(), member, args.into()));
        if let Some((overloads, result)) = key.as_ref().and_then(|key| self.resolved.get(key)).cloned() {
            self.refer(id, Reference::Overloads(overloads));
            return result;
        }
        self.types.mark();
        let mut fitting = vec![];
        let mut result: Option<Ty> = None;
        let (mut names, mut params) = (vec![], Vec::with_capacity(args.len()));
        for overload in &function.overloads {
            if overload.member != member || overload.params.len() != args.len() {
                continue;
            }
            if args.iter().zip(&overload.params).any(|(arg, param)| self.types.are_apart(*arg, param)) {
                continue;
            }
            names.clear();
            params.clear();
            params.extend(overload.params.iter().map(|param| self.types.declared(param, &mut names)));
            if !self.types.all_assignable(args, &params) {
                continue;
            }
            fitting.push(overload.id);
            let declared = self.types.declared(&overload.result, &mut names);
            let this = self.types.substitute(declared, false);
            result = match result {
                None => Some(this),
                Some(before) if before == this || before == Ty::DYN => Some(before),
                Some(_) => Some(Ty::DYN),
            };
        }
        match result {
            Some(result) => {
                self.types.release(result);
                let fitting: Arc<[&'static str]> = fitting.into();
                if let (Some(key), true) = (key, self.types.is_known(result)) {
                    self.resolved.insert(key, (fitting.clone(), result));
                }
                self.refer(id, Reference::Overloads(fitting));
                result
            }
            None => {
                self.no_overload(id, function, args, member);
                Ty::ERROR
            }
        }
    }
}
