//! Evaluating a planned tree.
//!
//! A value under way is borrowed as long as possible ([`Val`]): from the variables, from a constant, from an element of a list
//! that a fold walks. Nothing is allocated for it. Scopes are on the Rust stack and linked by reference.
//!
//! Recursion follows the planned tree, whose depth the parser bounds; [`Run::eval`] only chooses, each arm is a function of its
//! own, so that a debug build's frames stay small.
//!
//! Absent: what each node does (the other `run_` files).
use std::cell::OnceCell;

use super::{
    Program,
    node::{Bind, Conditional, Local, Node, Op, Which},
    probe::Probe,
};
use crate::{
    ast::{Ast, NodeId},
    eval::{Activation, Bound, Context, ErrorKind, Evaluation, Halt, Pattern, Unknowns},
    value::Value,
};

/// A value under way.
pub(super) enum Val<'s> {
    Ref(&'s Value),
    Own(Value),
}

impl Val<'_> {
    #[inline]
    pub(super) fn get(&self) -> &Value {
        match self {
            Val::Ref(value) => value,
            Val::Own(value) => value,
        }
    }

    #[inline]
    pub(super) fn own(self) -> Value {
        match self {
            Val::Ref(value) => value.clone(),
            Val::Own(value) => value,
        }
    }
}

impl From<bool> for Val<'_> {
    #[inline]
    fn from(b: bool) -> Self {
        Val::Own(Value::Bool(b))
    }
}

pub(super) type Outcome<'s> = Result<Val<'s>, Halt>;

/// The variables of one fold or binding, and those around it.
#[derive(Clone, Copy)]
pub(super) struct Scope<'s> {
    pub(super) outer: Option<&'s Scope<'s>>,
    pub(super) first: Option<&'s Value>,
    pub(super) second: Option<&'s Value>,
    pub(super) accumulator: Accumulator<'s>,
}

impl Scope<'_> {
    /// How many are around it.
    fn depth(&self) -> usize {
        std::iter::successors(self.outer, |scope| scope.outer).count()
    }
}

impl Bind {
    /// Where its body is evaluated.
    pub(super) fn scope<'s>(&'s self, cell: &'s OnceCell<Result<Value, Halt>>, outer: &'s Scope<'s>) -> Scope<'s> {
        let accumulator = Accumulator::Lazy { init: &self.init, cell };
        Scope { outer: Some(outer), first: None, second: None, accumulator }
    }
}

#[derive(Clone, Copy)]
pub(super) enum Accumulator<'s> {
    /// Loops have none.
    None,
    Is(&'s Result<Value, Halt>),
    /// Evaluated in the outer scope when it is first used.
    Lazy {
        init: &'s Node,
        cell: &'s OnceCell<Result<Value, Halt>>,
    },
}

/// Makes any activation one of known size, so that evaluation is compiled once for all.
pub(super) struct Variables<'a, A: ?Sized>(pub(super) &'a A);

impl<A: Activation + ?Sized> Activation for Variables<'_, A> {
    #[inline]
    fn variable(&self, slot: u32) -> Bound<'_> {
        self.0.variable(slot)
    }
}

/// The last result of a node that two parents have, and what it cost.
type Kept = Option<(Result<Value, Halt>, u64)>;

pub(super) struct Run<'r, 'c, P> {
    pub(super) variables: &'r dyn Activation,
    pub(super) context: &'r mut Context<'c>,
    pub(super) probe: P,
    ast: &'r Ast,
    /// By [`Op::Once`]'s places.
    memory: &'r mut [Kept],
    /// How many such nodes are being evaluated.
    onces: usize,
    /// The bindings that were evaluated meanwhile: how deep their scopes are, and what they cost beside each other.
    bindings: Vec<(usize, u64)>,
}

pub(super) fn evaluate<'r, P: Probe>(
    program: &'r Program,
    variables: &'r dyn Activation,
    context: &'r mut Context<'_>,
    probe: P,
) -> Evaluation {
    match program.memory {
        // Most programs need none.
        0 => evaluate_in(&mut [], program, variables, context, probe),
        places => evaluate_in(&mut vec![None; places], program, variables, context, probe),
    }
}

fn evaluate_in<'r, P: Probe>(
    memory: &'r mut [Kept],
    program: &'r Program,
    variables: &'r dyn Activation,
    context: &'r mut Context<'_>,
    probe: P,
) -> Evaluation {
    let mut run = Run { variables, context, probe, ast: &program.ast, memory, onces: 0, bindings: vec![] };
    let scope = Scope { outer: None, first: None, second: None, accumulator: Accumulator::None };
    let result = run.eval(&program.root, &scope).map(Val::own);
    Evaluation { result, cost: run.context.cost(), work: run.context.work() }
}

impl<'r, P: Probe> Run<'r, '_, P> {
    /// Evaluates a node and charges for it.
    pub(super) fn eval<'s>(&mut self, node: &'s Node, scope: &'s Scope<'s>) -> Outcome<'s>
    where
        'r: 's,
    {
        if let Op::Const(value) = &node.op {
            return Ok(Val::Ref(value));
        }
        self.probe.evaluated(node.id);
        match &node.op {
            Op::Const(value) => Ok(Val::Ref(value)),
            Op::Variable(slot) => {
                self.context.charge(1)?;
                self.variable(node.id, *slot)
            }
            Op::Local(local) => {
                self.context.charge(1)?;
                self.local(node.id, *local, scope)
            }
            Op::Attribute(attribute) => self.charged_attribute(attribute, scope),
            Op::Logic { operands, decisive } => self.logic(operands, *decisive, scope),
            Op::Binary(binary) => self.binary(node.id, binary, scope),
            Op::Conditional(conditional) => self.conditional(conditional, scope),
            Op::InSet(set) => self.in_set(set, scope),
            Op::Call(call) => self.call(node.id, call, scope),
            Op::NotStrictlyFalse(operand) => self.not_strictly_false(operand, scope),
            Op::Or { operands, unwrap } => self.optional_or(node.id, operands, *unwrap, scope),
            Op::List(elements) => self.list(node.id, elements, scope),
            Op::Map { entries, unique } => self.map(node.id, entries, *unique, scope),
            Op::Object(fields) => self.object(node.id, fields, scope),
            Op::Loop(l) => self.run_loop(node.id, l, scope),
            Op::Fold(fold) => self.fold(fold, scope),
            Op::Bind(bind) => self.bind(bind, scope),
            Op::Once(once) => self.once(once.0, &once.1, scope),
            Op::Again(place) => self.again(node.id, *place),
            Op::Undeclared(name) => Err(self.undeclared(node.id, name)),
        }
    }

    /// As [`Run::eval`], but what an attribute costs besides its qualifiers is free: a branch of `?:`, a computed key.
    pub(super) fn resolve<'s>(&mut self, node: &'s Node, scope: &'s Scope<'s>) -> Outcome<'s>
    where
        'r: 's,
    {
        match &node.op {
            Op::Variable(slot) => {
                self.probe.evaluated(node.id);
                self.variable(node.id, *slot)
            }
            Op::Local(local) => {
                self.probe.evaluated(node.id);
                self.local(node.id, *local, scope)
            }
            Op::Attribute(attribute) => {
                self.probe.evaluated(node.id);
                self.attribute(attribute, scope)
            }
            _ => self.eval(node, scope),
        }
    }

    #[inline]
    pub(super) fn variable<'s>(&mut self, id: NodeId, slot: u32) -> Outcome<'s>
    where
        'r: 's,
    {
        match self.variables.variable(slot) {
            Bound::Value(value) | Bound::Partly(value, []) => Ok(Val::Ref(value)),
            Bound::Partly(_, patterns) => Err(unknown(patterns)),
            Bound::Halt(halt) => Err(self.place(id, halt.clone())),
            Bound::Absent => Err(self.undeclared(id, "")),
        }
    }

    pub(super) fn local<'s>(&mut self, id: NodeId, local: Local, scope: &'s Scope<'s>) -> Outcome<'s>
    where
        'r: 's,
    {
        let mut at = scope;
        for _ in 0..local.up {
            at = match at.outer {
                Some(outer) => outer,
                None => return Err(self.undeclared(id, "")),
            };
        }
        let found = match local.which {
            Which::First => at.first,
            Which::Second => at.second,
            Which::Accumulator => return self.accumulator(id, at),
        };
        found.map(Val::Ref).ok_or_else(|| self.undeclared(id, ""))
    }

    #[inline(never)]
    fn accumulator<'s>(&mut self, id: NodeId, scope: &'s Scope<'s>) -> Outcome<'s>
    where
        'r: 's,
    {
        let result = match scope.accumulator {
            Accumulator::None => return Err(self.undeclared(id, "")),
            Accumulator::Is(result) => result,
            Accumulator::Lazy { init, cell } => match cell.get() {
                Some(result) => result,
                None => {
                    let outer = scope.outer.unwrap_or(scope);
                    let (before, from) = (self.context.cost(), self.bindings.len());
                    let result = match self.eval(init, outer) {
                        Err(halt) if halt.is_fatal() => return Err(halt),
                        result => result.map(Val::own),
                    };
                    if self.onces > 0 {
                        self.binding(scope.depth(), from, self.context.cost() - before);
                    }
                    cell.get_or_init(|| result)
                }
            },
        };
        match result {
            Ok(value) => Ok(Val::Ref(value)),
            Err(halt) => Err(halt.clone()),
        }
    }

    #[inline(never)]
    pub(super) fn conditional<'s>(&mut self, conditional: &'s Conditional, scope: &'s Scope<'s>) -> Outcome<'s>
    where
        'r: 's,
    {
        if let Some(condition) = self.truth(&conditional.condition, scope) {
            return self.resolve(if condition { &conditional.yes } else { &conditional.no }, scope);
        }
        let condition = self.eval(&conditional.condition, scope)?;
        let &Value::Bool(condition) = condition.get() else {
            return Err(self.place(conditional.condition.id, Halt::no_such_overload()));
        };
        self.decided(&conditional.condition, condition);
        self.resolve(if condition { &conditional.yes } else { &conditional.no }, scope)
    }

    /// Left to right, to the operand that decides. What fails or is unknown does not decide.
    fn logic<'s>(&mut self, operands: &'s [Node], decisive: bool, scope: &'s Scope<'s>) -> Outcome<'s>
    where
        'r: 's,
    {
        let mut halted = None;
        for operand in operands {
            if let Some(truth) = self.truth(operand, scope) {
                if truth == decisive {
                    return Ok(truth.into());
                }
                continue;
            }
            match self.eval(operand, scope) {
                Ok(value) => match *value.get() {
                    Value::Bool(b) => {
                        self.decided(operand, b);
                        if b == decisive {
                            return Ok(b.into());
                        }
                    }
                    _ => merge(&mut halted, self.place(operand.id, Halt::no_such_overload())),
                },
                Err(halt) if halt.is_fatal() => return Err(halt),
                Err(halt) => merge(&mut halted, halt),
            }
        }
        match halted {
            None => Ok((!decisive).into()),
            Some(halt) => Err(halt),
        }
    }

    #[inline(never)]
    fn not_strictly_false<'s>(&mut self, operand: &'s Node, scope: &'s Scope<'s>) -> Outcome<'s>
    where
        'r: 's,
    {
        let result = self.eval(operand, scope);
        self.context.charge(1)?;
        match result {
            Ok(value) => Ok((!matches!(value.get(), Value::Bool(false))).into()),
            Err(halt) if halt.is_fatal() => Err(halt),
            Err(_) => Ok(true.into()),
        }
    }

    #[inline(never)]
    fn bind<'s>(&mut self, bind: &'s Bind, scope: &'s Scope<'s>) -> Outcome<'s>
    where
        'r: 's,
    {
        let cell = OnceCell::new();
        Ok(Val::Own(self.eval(&bind.body, &bind.scope(&cell, scope))?.own()))
    }

    /// Tells of a fork; a constant is none.
    #[inline]
    pub(super) fn decided(&mut self, node: &Node, outcome: bool) {
        if P::ON && !matches!(node.op, Op::Const(_)) {
            self.probe.decided(node.id, outcome);
        }
    }

    #[inline(never)]
    fn once<'s>(&mut self, place: usize, node: &'s Node, scope: &'s Scope<'s>) -> Outcome<'s>
    where
        'r: 's,
    {
        let (before, from) = (self.context.cost(), self.bindings.len());
        self.onces += 1;
        let result = match self.eval(node, scope) {
            Err(halt) if halt.is_fatal() => return Err(halt),
            result => result,
        };
        self.onces -= 1;
        // The bindings outside are evaluated by now: evaluating it again does not pay for them again.
        let depth = scope.depth();
        let mut paid = 0;
        for i in (from..self.bindings.len()).rev() {
            match self.bindings.get(i) {
                Some(&(of, cost)) if of <= depth => paid += cost,
                _ => drop(self.bindings.swap_remove(i)),
            }
        }
        if self.onces == 0 {
            self.bindings.clear();
        }
        if let Some(kept) = self.memory.get_mut(place) {
            let value = result.as_ref().map(|value| value.get().clone()).map_err(Clone::clone);
            *kept = Some((value, self.context.cost() - before - paid));
        }
        result
    }

    /// Remembers what evaluating a binding cost, below a node that is evaluated once: what was evaluated for it, from `from` on,
    /// belongs to it.
    fn binding(&mut self, depth: usize, from: usize, cost: u64) {
        let mut own = cost;
        for (of, cost) in self.bindings.iter_mut().skip(from) {
            *of = depth.min(*of);
            own -= *cost;
        }
        self.bindings.push((depth, own));
    }

    #[inline(never)]
    fn again<'s>(&mut self, id: NodeId, place: usize) -> Outcome<'s> {
        match self.memory.get(place).cloned().flatten() {
            Some((result, cost)) => {
                self.context.charge(cost)?;
                result.map(Val::Own)
            }
            // Not reached: the first parent comes first.
            None => Err(self.undeclared(id, "")),
        }
    }

    #[cold]
    fn undeclared(&self, id: NodeId, name: &str) -> Halt {
        let text = super::span(self.ast, id)
            .and_then(|span| self.ast.source().get(span.start as usize..span.end as usize))
            .unwrap_or(name);
        let name = if name.is_empty() { text } else { name };
        self.fail(id, ErrorKind::NoSuchAttribute, format!("no such attribute(s): {name}"))
    }

    /// An error at a node.
    #[cold]
    pub(super) fn fail(&self, id: NodeId, kind: ErrorKind, message: impl Into<String>) -> Halt {
        self.place(id, Halt::error(kind, message))
    }

    /// Gives an error that has no place that of a node.
    #[cold]
    pub(super) fn place(&self, id: NodeId, mut halt: Halt) -> Halt {
        if let Halt::Error(error) = &mut halt
            && error.span.is_none()
        {
            error.span = super::span(self.ast, id);
        }
        halt
    }
}

/// What of a variable is not known stands where the variable, or all that is below it, is asked for.
#[cold]
pub(super) fn unknown<'p>(patterns: impl IntoIterator<Item = &'p Pattern>) -> Halt {
    Halt::Unknown(Box::new(Unknowns(patterns.into_iter().map(|pattern| pattern.id).collect())))
}

/// Adds what also went wrong: unknowns unite and win over errors, the first error is kept.
#[cold]
pub(super) fn merge(halted: &mut Option<Halt>, halt: Halt) {
    match (&mut *halted, halt) {
        (Some(Halt::Unknown(all)), Halt::Unknown(more)) => all.0.extend(more.0),
        (None | Some(Halt::Error(_)), halt @ Halt::Unknown(_)) | (None, halt) => *halted = Some(halt),
        (Some(_), Halt::Error(_)) => {}
    }
}

/// A value's type as cel-go's source names it; some of its messages do.
pub(super) fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "types.Null",
        Value::Bool(_) => "types.Bool",
        Value::Int(_) => "types.Int",
        Value::Uint(_) => "types.Uint",
        Value::Double(_) => "types.Double",
        Value::String(_) => "types.String",
        Value::Bytes(_) => "types.Bytes",
        Value::Timestamp(_) => "types.Timestamp",
        Value::Duration(_) => "types.Duration",
        Value::List(_) => "*types.baseList",
        Value::Map(_) => "*types.baseMap",
        Value::Optional(_) => "*types.Optional",
        Value::Type(_) => "*types.Type",
        Value::Opaque(_) => "opaque",
    }
}
