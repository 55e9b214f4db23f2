//! Calling functions: arguments, the overload that fits them, its price.
//!
//! Absent: functions themselves (library), operators with a short way (run_operator).
use std::cell::OnceCell;

use super::{
    node::{Bind, Call, Candidate, Fit, Known, Node, Op, Target},
    probe::Probe,
    run::{Outcome, Run, Scope, Val, merge},
};
use crate::{
    ast::NodeId,
    eval::{Context, ErrorKind, Halt},
    library::{Cost, Specialized, lists::order_by_keys},
    types::Type,
    value::{Key, Value},
};

/// Arguments up to which a call allocates nothing.
const INLINE: usize = 3;

impl<'r, P: Probe> Run<'r, '_, P> {
    #[inline(never)]
    pub(super) fn call<'s>(&mut self, id: NodeId, call: &'s Call, scope: &'s Scope<'s>) -> Outcome<'s>
    where
        'r: 's,
    {
        if let [argument] = &*call.arguments {
            return self.call_of_one(id, call, argument, scope);
        }
        let n = call.arguments.len();
        let mut few = [const { Value::Null }; INLINE];
        let mut many = Vec::new();
        let values = match few.get_mut(..n) {
            Some(few) => few,
            None => {
                many.resize(n, Value::Null);
                &mut many[..]
            }
        };
        if let Some(halt) = self.arguments(call, values, scope)? {
            self.charge_halted(call, values)?;
            return Err(halt);
        }
        let specialized = call.specialized.as_ref().map(|code| &code.0);
        match apply(&call.target, specialized, self.context, values) {
            Ok(value) => Ok(Val::Own(value)),
            Err(halt) => Err(self.place(id, halt)),
        }
    }

    /// A call of one argument, which is handed on by reference.
    fn call_of_one<'s>(&mut self, id: NodeId, call: &'s Call, argument: &'s Node, scope: &'s Scope<'s>) -> Outcome<'s>
    where
        'r: 's,
    {
        let before = self.context.cost();
        if let Some(result) = self.number_call(call, scope) {
            return Ok(result.into());
        }
        self.context.forget_back_to(before);
        let held;
        let value = match self.peek(argument, scope) {
            Some(value) => value,
            None => {
                self.context.forget_back_to(before);
                held = match self.eval(argument, scope) {
                    Ok(value) => value,
                    Err(halt) if halt.is_fatal() => return Err(halt),
                    Err(halt) => {
                        self.charge_halted(call, &[Value::Null])?;
                        return Err(halt);
                    }
                };
                held.get()
            }
        };
        let specialized = call.specialized.as_ref().map(|code| &code.0);
        match apply(&call.target, specialized, self.context, std::slice::from_ref(value)) {
            Ok(value) => Ok(Val::Own(value)),
            Err(halt) => Err(self.place(id, halt)),
        }
    }

    /// The list of a `sortBy` and the positions of its elements in the order of their keys, for whoever goes through them
    /// once and needs no list of them. Nothing where the binding is no `sortBy`.
    #[inline(never)]
    pub(super) fn sort_by<'s>(
        &mut self,
        bind: &'s Bind,
        scope: &'s Scope<'s>,
    ) -> Result<Option<(Value, Vec<usize>)>, Halt>
    where
        'r: 's,
    {
        let Op::Call(call) = &bind.body.op else { return Ok(None) };
        let mut values = [Value::Null, Value::Null];
        if P::ON || call.known != Some(Known::SortByKeys) || call.arguments.len() != values.len() {
            return Ok(None);
        }
        let cell = OnceCell::new();
        if let Some(halt) = self.arguments(call, &mut values, &bind.scope(&cell, scope))? {
            self.charge_halted(call, &values)?;
            return Err(halt);
        }
        let positions = fitting(&call.target, self.context, &values).and_then(|candidate| {
            self.context.charge(price(&candidate.cost, call.target.resolved, &values, None))?;
            Ok(order_by_keys(self.context, &values)?.1)
        });
        let [list, _] = values;
        match positions {
            Ok(positions) => Ok(Some((list, positions))),
            Err(halt) => Err(self.place(bind.body.id, halt)),
        }
    }

    /// Evaluates arguments into `values`. A failed one stays null. The error: no call took place, and nothing is due for it.
    fn arguments<'s>(
        &mut self,
        call: &'s Call,
        values: &mut [Value],
        scope: &'s Scope<'s>,
    ) -> Result<Option<Halt>, Halt>
    where
        'r: 's,
    {
        let mut halted = None;
        let last = call.arguments.len().wrapping_sub(1);
        for (i, (argument, value)) in call.arguments.iter().zip(values).enumerate() {
            match self.argument(argument, scope) {
                Ok(found) => *value = found,
                Err(halt) if halt.is_fatal() => return Err(halt),
                Err(halt) => {
                    let stops = !call.all_arguments && i < last && matches!(halt, Halt::Error(_));
                    merge(&mut halted, halt);
                    if stops {
                        return Err(halted.unwrap_or_else(Halt::no_such_overload));
                    }
                }
            }
        }
        Ok(halted)
    }

    fn argument<'s>(&mut self, argument: &'s Node, scope: &'s Scope<'s>) -> Result<Value, Halt>
    where
        'r: 's,
    {
        self.eval(argument, scope).map(Val::own)
    }

    #[cold]
    fn charge_halted(&mut self, call: &Call, values: &[Value]) -> Result<(), Halt> {
        self.context.charge(price_of(&call.target, values))
    }
}

/// Calls what fits the values, and charges for it.
pub(super) fn apply(
    target: &Target,
    specialized: Option<&Specialized>,
    context: &mut Context<'_>,
    values: &[Value],
) -> Result<Value, Halt> {
    let candidate = fitting(target, context, values)?;
    let run = |context: &mut Context<'_>| match specialized {
        Some(code) => code(context, values),
        None => (candidate.code)(context, values),
    };
    match candidate.cost {
        Cost::Fixed(cost) => context.charge(cost)?,
        Cost::Args(_) | Cost::ResolvedArgs(_) => {
            context.charge(price(&candidate.cost, target.resolved, values, None))?;
        }
        Cost::Result(_) | Cost::ResolvedResult(_) => {
            let result = run(context);
            if let Err(halt) = &result
                && halt.is_fatal()
            {
                return result;
            }
            context.charge(price(&candidate.cost, target.resolved, values, result.as_ref().ok()))?;
            return result;
        }
    }
    run(context)
}

/// What fits the values, with the work of reading them counted.
#[inline]
fn fitting<'t>(target: &'t Target, context: &mut Context<'_>, values: &[Value]) -> Result<&'t Candidate, Halt> {
    let Some(candidate) = target.candidates.iter().find(|c| c.fits(values)) else {
        context.charge(price_of(target, values))?;
        return Err(no_overload(target, values));
    };
    let work = unpriced(&candidate.cost, target.resolved, values);
    if work > 0 {
        context.spend(work)?;
    }
    Ok(candidate)
}

/// Work of reading the arguments, where the price is not by their sizes: a call that the checker could not resolve costs 1,
/// whatever it reads, and a fixed price does not count how long a text is.
#[inline]
fn unpriced(cost: &Cost, resolved: bool, values: &[Value]) -> u64 {
    let fixed = matches!(cost, Cost::Fixed(_));
    if resolved && !fixed {
        return 0;
    }
    let of = |value: &Value| match value {
        Value::String(s) => s.len(),
        Value::Bytes(b) => b.len(),
        // What has a fixed price does not go through lists.
        Value::List(l) if !fixed => l.len().saturating_mul(size_of::<Value>()),
        Value::Map(m) if !fixed => m.len().saturating_mul(size_of::<(Key, Value)>()),
        _ => 0,
    };
    let bytes = values.iter().fold(0, |sum: usize, value| sum.saturating_add(of(value))) as u64;
    if resolved { bytes / 8 } else { bytes }
}

/// What a call costs that does not take place, its operands having failed.
pub(super) fn price_of(target: &Target, values: &[Value]) -> u64 {
    target.candidates.first().map_or(1, |c| price(&c.cost, target.resolved, values, None))
}

fn price(cost: &Cost, resolved: bool, values: &[Value], result: Option<&Value>) -> u64 {
    match cost {
        Cost::Fixed(cost) => *cost,
        Cost::Args(price) => price(values),
        Cost::Result(price) => price(values, result),
        Cost::ResolvedArgs(price) if resolved => price(values),
        Cost::ResolvedResult(price) if resolved => price(values, result),
        Cost::ResolvedArgs(_) | Cost::ResolvedResult(_) => 1,
    }
}

impl Target {
    /// Whether a candidate takes the two.
    pub(super) fn takes(&self, a: &Value, b: &Value) -> bool {
        let takes = |c: &Candidate| matches!(&*c.parameters, [left, right] if left.takes(a) && right.takes(b));
        self.candidates.iter().any(takes)
    }
}

impl Candidate {
    fn fits(&self, values: &[Value]) -> bool {
        self.parameters.len() == values.len() && self.parameters.iter().zip(values).all(|(fit, value)| fit.takes(value))
    }
}

impl Fit {
    pub(super) fn takes(&self, value: &Value) -> bool {
        match (self, value) {
            (Fit::Any, _)
            | (Fit::Null, Value::Null)
            | (Fit::Bool, Value::Bool(_))
            | (Fit::Int, Value::Int(_))
            | (Fit::Uint, Value::Uint(_))
            | (Fit::Double, Value::Double(_))
            | (Fit::String, Value::String(_))
            | (Fit::Bytes, Value::Bytes(_))
            | (Fit::Timestamp, Value::Timestamp(_))
            | (Fit::Duration, Value::Duration(_))
            | (Fit::List, Value::List(_))
            | (Fit::Map, Value::Map(_))
            | (Fit::Optional, Value::Optional(_))
            | (Fit::Type, Value::Type(_))
            | (Fit::Nullable(_), Value::Null) => true,
            (Fit::Opaque(name), Value::Opaque(o)) => matches!(o.type_of(), Type::Opaque(n, _) if n == *name),
            (Fit::Nullable(inner), value) => inner.takes(value),
            _ => false,
        }
    }
}

/// As cel-go words it: by operand for operators, with the values' types for functions.
#[cold]
pub(super) fn no_overload(target: &Target, values: &[Value]) -> Halt {
    let name = &*target.function;
    let message = match (name, values.first()) {
        (operator, Some(first)) if operator.starts_with('_') || operator.ends_with('_') => {
            if lacks_trait(operator, first) {
                format!("no such overload: {operator}")
            } else {
                "no such overload".into()
            }
        }
        ("@in" | "startsWith" | "endsWith" | "contains" | "matches" | "find" | "findAll" | "sort", _) => {
            "no such overload".into()
        }
        ("size", _) => "no such overload: size".into(),
        _ => {
            let types: Vec<_> = values.iter().map(type_name).collect();
            format!("no such overload: {name}({})", types.join(", "))
        }
    };
    Halt::error(ErrorKind::NoSuchOverload, message)
}

/// Whether no value of the operand's type can stand left of the operator.
pub(super) fn lacks_trait(operator: &str, value: &Value) -> bool {
    use Value::{Bool, Bytes, Double, Duration, Int, List, String, Timestamp, Uint};
    !match operator {
        "_+_" => {
            matches!(value, Int(_) | Uint(_) | Double(_) | String(_) | Bytes(_) | List(_) | Timestamp(_) | Duration(_))
        }
        "_-_" => matches!(value, Int(_) | Uint(_) | Double(_) | Timestamp(_) | Duration(_)),
        "_*_" | "_/_" => matches!(value, Int(_) | Uint(_) | Double(_)),
        "_%_" => matches!(value, Int(_) | Uint(_)),
        "_<_" | "_<=_" | "_>_" | "_>=_" => {
            matches!(value, Bool(_) | Int(_) | Uint(_) | Double(_) | String(_) | Bytes(_) | Timestamp(_) | Duration(_))
        }
        _ => true,
    }
}

/// A value's type as run-time messages name it.
pub(super) fn type_name(value: &Value) -> String {
    match value {
        Value::Null => "null_type".into(),
        Value::Timestamp(_) => "google.protobuf.Timestamp".into(),
        Value::Duration(_) => "google.protobuf.Duration".into(),
        Value::List(_) => "list".into(),
        Value::Map(_) => "map".into(),
        Value::Optional(_) => "optional_type".into(),
        Value::Type(_) => "type".into(),
        value => value.type_of().to_string(),
    }
}
