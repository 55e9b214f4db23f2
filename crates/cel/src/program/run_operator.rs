//! Operators: the short ways for what is common, the library's overloads for the rest.
//!
//! Absent: `&&`, `||`, `?:` (run), arithmetic beyond int and double (library).
use std::cmp::Ordering;

use super::{
    node::{Binary, BinaryOp, InSet, Node},
    price,
    probe::Probe,
    run::{Outcome, Run, Scope, Val, merge},
    run_call,
    run_short::LEVELS,
};
use crate::{
    ast::NodeId,
    eval::{ErrorKind, Halt},
    library::operators,
    value::Value,
};

impl<'r, P: Probe> Run<'r, '_, P> {
    pub(super) fn binary<'s>(&mut self, id: NodeId, binary: &'s Binary, scope: &'s Scope<'s>) -> Outcome<'s>
    where
        'r: 's,
    {
        let before = self.context.cost();
        if binary.of_numbers {
            if let Some(result) = self.sum(binary, scope, LEVELS) {
                return Ok(result.into());
            }
        } else if binary.op == BinaryOp::Add {
            if let Some(text) = self.joined_texts(binary, scope) {
                return Ok(Val::Own(text));
            }
        } else if let Some(truth) = self.comparison(binary, scope) {
            return Ok(truth.into());
        }
        self.context.forget_back_to(before);
        self.long_binary(id, binary, scope)
    }

    #[inline(never)]
    pub(super) fn long_binary<'s>(&mut self, id: NodeId, binary: &'s Binary, scope: &'s Scope<'s>) -> Outcome<'s>
    where
        'r: 's,
    {
        let left = match self.eval(&binary.left, scope) {
            Ok(left) => left,
            Err(halt) if halt.is_fatal() => return Err(halt),
            Err(halt) => {
                let right = self.eval(&binary.right, scope);
                return self.halted_operands(binary, Err(halt), right);
            }
        };
        match self.eval(&binary.right, scope) {
            Ok(right) => self.operate(id, binary, left, right),
            Err(halt) => self.halted_operands(binary, Ok(left), Err(halt)),
        }
    }

    #[inline]
    fn operate<'s>(&mut self, id: NodeId, binary: &'s Binary, left: Val<'s>, right: Val<'s>) -> Outcome<'s>
    where
        'r: 's,
    {
        match (left.get(), right.get()) {
            (Value::Int(a), Value::Int(b)) if binary.op != BinaryOp::In => {
                self.context.charge(1)?;
                match int(binary.op, *a, *b) {
                    Ok(value) => Ok(Val::Own(value)),
                    Err(halt) => Err(self.place(id, halt)),
                }
            }
            (Value::Double(a), Value::Double(b)) => match double(binary.op, *a, *b) {
                Some(value) => {
                    self.context.charge(1)?;
                    Ok(Val::Own(value))
                }
                None => {
                    self.general(binary, left.get(), right.get()).map(Val::Own).map_err(|halt| self.place(id, halt))
                }
            },
            (Value::List(_), Value::List(_)) if binary.op == BinaryOp::Add => self.joined(left, right),
            (a, b) => match self.general(binary, a, b) {
                Ok(value) => Ok(Val::Own(value)),
                Err(halt) => Err(self.place(id, halt)),
            },
        }
    }

    /// `list + list`. Of a chain's sums none is copied.
    #[inline(never)]
    fn joined<'s>(&mut self, left: Val<'s>, right: Val<'s>) -> Outcome<'s>
    where
        'r: 's,
    {
        self.context.charge(1)?;
        match (left.own(), right.get()) {
            (Value::List(a), Value::List(b)) => {
                Ok(Val::Own(Value::List(a.joined(b, &mut |work| self.context.spend(work))?)))
            }
            _ => Err(Halt::no_such_overload()),
        }
    }

    #[inline(never)]
    fn general(&mut self, binary: &Binary, a: &Value, b: &Value) -> Result<Value, Halt> {
        match binary.op {
            BinaryOp::Equal | BinaryOp::NotEqual => {
                let by_identity = binary.op == BinaryOp::Equal && matches!(a, Value::Opaque(_));
                self.context.charge(if by_identity { 1 } else { price::comparison(a, b) })?;
                Ok(Value::Bool(self.equal(a, b)? == (binary.op == BinaryOp::Equal)))
            }
            BinaryOp::Less => self.ordered(binary, a, b, Ordering::is_lt),
            BinaryOp::LessEqual => self.ordered(binary, a, b, Ordering::is_le),
            BinaryOp::Greater => self.ordered(binary, a, b, Ordering::is_gt),
            BinaryOp::GreaterEqual => self.ordered(binary, a, b, Ordering::is_ge),
            BinaryOp::In => self.contained(binary, a, b),
            BinaryOp::Add if matches!((a, b), (Value::String(_), Value::String(_))) && binary.target.takes(a, b) => {
                // What the overload does, without an array for it.
                self.context.charge(if binary.target.resolved { price::joined(a, b) } else { 1 })?;
                operators::add_two(self.context, a, b)
            }
            _ => run_call::apply(&binary.target, None, self.context, &[a.clone(), b.clone()]),
        }
    }

    /// Equality, with the work of comparing containers counted: the model prices only their length.
    pub(super) fn equal(&mut self, a: &Value, b: &Value) -> Result<bool, Halt> {
        self.context.equals(a, b)
    }

    fn ordered(&mut self, binary: &Binary, a: &Value, b: &Value, test: fn(Ordering) -> bool) -> Result<Value, Halt> {
        let texts = matches!((a, b), (Value::String(_), Value::String(_)) | (Value::Bytes(_), Value::Bytes(_)));
        self.context.charge(if texts && binary.target.resolved { price::comparison(a, b) } else { 1 })?;
        if texts && !binary.target.resolved {
            self.context.spend(price::key_work(a).min(price::key_work(b)))?;
        }
        match a.compare(b) {
            Ok(ordering) => Ok(Value::Bool(test(ordering))),
            Err(Halt::Error(e)) if e.kind == ErrorKind::NoSuchOverload => {
                Err(run_call::no_overload(&binary.target, std::slice::from_ref(a)))
            }
            Err(halt) => Err(halt),
        }
    }

    fn contained(&mut self, binary: &Binary, element: &Value, container: &Value) -> Result<Value, Halt> {
        let cost = match container {
            Value::List(_) | Value::Optional(_) if binary.target.resolved => price::size(container),
            _ => 1,
        };
        self.context.charge(cost)?;
        match container {
            Value::List(list) => {
                for value in list {
                    self.context.spend(price::ROUND_WORK)?;
                    if self.equal(element, value)? {
                        return Ok(Value::Bool(true));
                    }
                }
                Ok(Value::Bool(false))
            }
            Value::Map(map) => {
                self.context.spend(price::key_work(element))?;
                Ok(Value::Bool(map.get_value(element).is_some()))
            }
            _ => Err(Halt::no_such_overload()),
        }
    }

    /// The call is due all the same: a failed operand has size 1 (COST model, A5).
    #[inline(never)]
    fn halted_operands<'s>(&mut self, binary: &Binary, left: Outcome<'s>, right: Outcome<'s>) -> Outcome<'s>
    where
        'r: 's,
    {
        let mut halted = None;
        let mut value = |operand: Outcome<'s>| match operand {
            Ok(value) => Ok(value.own()),
            Err(halt) if halt.is_fatal() => Err(halt),
            Err(halt) => {
                merge(&mut halted, halt);
                Ok(Value::Null)
            }
        };
        let values = [value(left)?, value(right)?];
        let [a, b] = &values;
        let cost = match binary.op {
            BinaryOp::Equal if matches!(a, Value::Opaque(_)) => 1,
            BinaryOp::Equal | BinaryOp::NotEqual => price::comparison(a, b),
            BinaryOp::In if binary.target.resolved && matches!(b, Value::List(_)) => price::size(b),
            BinaryOp::In => 1,
            _ => run_call::price_of(&binary.target, &values),
        };
        self.context.charge(cost)?;
        Err(halted.unwrap_or_else(Halt::no_such_overload))
    }

    #[inline(never)]
    pub(super) fn in_set<'s>(&mut self, set: &'s InSet, scope: &'s Scope<'s>) -> Outcome<'s>
    where
        'r: 's,
    {
        let element = self.eval(&set.element, scope)?;
        self.context.spend(price::key_work(element.get()))?;
        Ok(set.contains(element.get()).into())
    }

    #[inline(never)]
    pub(super) fn optional_or<'s>(
        &mut self,
        id: NodeId,
        operands: &'s (Node, Node),
        unwrap: bool,
        scope: &'s Scope<'s>,
    ) -> Outcome<'s>
    where
        'r: 's,
    {
        if unwrap {
            let before = self.context.cost();
            match self.peek_optional(&operands.0, scope) {
                Some(Some(value)) => return Ok(Val::Ref(value)),
                Some(None) => return self.eval(&operands.1, scope),
                None => self.context.forget_back_to(before),
            }
        }
        let first = self.eval(&operands.0, scope)?;
        match first.get() {
            Value::Optional(None) => self.eval(&operands.1, scope),
            Value::Optional(Some(held)) if unwrap => Ok(Val::Own(Value::clone(held))),
            Value::Optional(_) => Ok(first),
            _ => Err(self.place(id, Halt::no_such_overload())),
        }
    }
}

/// What doubles always have: arithmetic that cannot fail, and comparison unless one is no number.
fn double(op: BinaryOp, a: f64, b: f64) -> Option<Value> {
    Some(match op {
        BinaryOp::Add => Value::Double(a + b),
        BinaryOp::Subtract => Value::Double(a - b),
        BinaryOp::Multiply => Value::Double(a * b),
        BinaryOp::Divide => Value::Double(a / b),
        BinaryOp::Less => Value::Bool(a.partial_cmp(&b)?.is_lt()),
        BinaryOp::LessEqual => Value::Bool(a.partial_cmp(&b)?.is_le()),
        BinaryOp::Greater => Value::Bool(a.partial_cmp(&b)?.is_gt()),
        BinaryOp::GreaterEqual => Value::Bool(a.partial_cmp(&b)?.is_ge()),
        BinaryOp::Equal | BinaryOp::NotEqual | BinaryOp::Modulo | BinaryOp::In => return None,
    })
}

#[inline]
fn int(op: BinaryOp, a: i64, b: i64) -> Result<Value, Halt> {
    let result = match op {
        BinaryOp::Equal => return Ok(Value::Bool(a == b)),
        BinaryOp::NotEqual => return Ok(Value::Bool(a != b)),
        BinaryOp::Less => return Ok(Value::Bool(a < b)),
        BinaryOp::LessEqual => return Ok(Value::Bool(a <= b)),
        BinaryOp::Greater => return Ok(Value::Bool(a > b)),
        BinaryOp::GreaterEqual => return Ok(Value::Bool(a >= b)),
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Subtract => a.checked_sub(b),
        BinaryOp::Multiply => a.checked_mul(b),
        BinaryOp::Divide if b == 0 => return Err(Halt::error(ErrorKind::DivideByZero, "division by zero")),
        BinaryOp::Modulo if b == 0 => return Err(Halt::error(ErrorKind::DivideByZero, "modulus by zero")),
        BinaryOp::Divide => a.checked_div(b),
        BinaryOp::Modulo => a.checked_rem(b),
        BinaryOp::In => return Err(Halt::no_such_overload()),
    };
    result.map(Value::Int).ok_or_else(|| Halt::error(ErrorKind::Overflow, "integer overflow"))
}
