//! Short ways: what most evaluations are made of — a field compared with a constant, a text that starts so — without a value on
//! the way, only references and a bool.
//!
//! A short way either gives what the long one would and charges the same, or gives nothing and leaves no trace; then the long way
//! is gone from the start. So errors, unknowns, optionals and an exhausted budget are the long way's business alone.
use super::{
    node::{Attribute, Binary, BinaryOp, Call, Local, Node, Op, QualifierKey, Root, TextTest, Which},
    price,
    probe::Probe,
    run::{Run, Scope},
};
use crate::{
    eval::Bound,
    library::{cost, operators},
    value::Value,
};

/// Levels of operators that a short way goes down.
pub(super) const LEVELS: u32 = 3;

/// Texts of a chain that are joined at once.
const MOST_TEXTS: usize = 6;

/// A value under way on a short way: nothing that must be dropped.
#[derive(Clone, Copy)]
enum Short<'s> {
    Ref(&'s Value),
    Int(i64),
}

impl<'s> Short<'s> {
    #[inline]
    fn int(self) -> Option<i64> {
        match self {
            Short::Int(i) => Some(i),
            Short::Ref(Value::Int(i)) => Some(*i),
            Short::Ref(_) => None,
        }
    }
}

impl<'r, P: Probe> Run<'r, '_, P> {
    /// The truth of a condition.
    pub(super) fn truth<'s>(&mut self, node: &'s Node, scope: &'s Scope<'s>) -> Option<bool>
    where
        'r: 's,
    {
        if P::ON {
            return None;
        }
        let before = self.context.cost();
        let truth = match &node.op {
            Op::Binary(binary) => self.comparison(binary, scope),
            Op::Attribute(attribute) if attribute.test => self.presence(attribute, scope),
            Op::Call(call) => self.text_test(call, scope),
            Op::InSet(set) => self.peek(&set.element, scope).map(|element| set.contains(element)),
            Op::Variable(_) | Op::Local(_) | Op::Attribute(_) => match self.peek(node, scope) {
                Some(Value::Bool(b)) => Some(*b),
                _ => None,
            },
            _ => None,
        };
        if truth.is_none() {
            self.context.forget_back_to(before);
        }
        truth
    }

    /// The value of a constant or of an attribute without optionals, computed keys or failures; charged if there.
    #[inline]
    pub(super) fn peek<'s>(&mut self, node: &'s Node, scope: &'s Scope<'s>) -> Option<&'s Value>
    where
        'r: 's,
    {
        if P::ON {
            return None;
        }
        let (value, cost) = match &node.op {
            Op::Const(value) => return Some(value),
            Op::Variable(slot) => (self.bound(*slot)?, 1),
            Op::Local(local) => (bound_local(*local, scope)?, 1),
            Op::Attribute(attribute) => return self.peek_attribute(attribute, scope),
            _ => return None,
        };
        self.context.charge_if_affordable(cost).then_some(value)
    }

    #[inline]
    pub(super) fn peek_attribute<'s>(&mut self, attribute: &'s Attribute, scope: &'s Scope<'s>) -> Option<&'s Value>
    where
        'r: 's,
    {
        if P::ON || !attribute.plain || attribute.test {
            return None;
        }
        let value = self.walk(attribute, scope, 0)?;
        let cost = attribute.qualifiers.len() as u64 + attribute.own_cost;
        self.context.charge_if_affordable(cost).then_some(value)
    }

    #[inline]
    fn bound<'s>(&self, slot: u32) -> Option<&'s Value>
    where
        'r: 's,
    {
        match self.variables.variable(slot) {
            Bound::Value(value) => Some(value),
            _ => None,
        }
    }

    /// Along all qualifiers but the last `leave`.
    #[inline]
    fn walk<'s>(&self, attribute: &'s Attribute, scope: &'s Scope<'s>, leave: usize) -> Option<&'s Value>
    where
        'r: 's,
    {
        let mut at = match &attribute.root {
            Root::Variable(_, slot) => self.bound(*slot)?,
            Root::Local(_, local) => bound_local(*local, scope)?,
            Root::Node(_) => return None,
        };
        let steps = attribute.qualifiers.len().saturating_sub(leave);
        for qualifier in attribute.qualifiers.iter().take(steps) {
            at = match (&qualifier.key, at) {
                (QualifierKey::Field(key), Value::Map(map)) => map.get_field(key)?,
                (QualifierKey::Const(key), Value::Map(map)) => map.get_value(key)?,
                (QualifierKey::Const(Value::Int(index)), Value::List(list)) => {
                    list.as_slice().get(usize::try_from(*index).ok()?)?
                }
                _ => return None,
            }
        }
        Some(at)
    }

    pub(super) fn presence<'s>(&mut self, attribute: &'s Attribute, scope: &'s Scope<'s>) -> Option<bool>
    where
        'r: 's,
    {
        if !attribute.plain {
            return None;
        }
        match (self.walk(attribute, scope, 1)?, &attribute.qualifiers.last()?.key) {
            (Value::Map(map), QualifierKey::Field(key)) => {
                let cost = attribute.qualifiers.len() as u64;
                self.context.charge_if_affordable(cost).then(|| map.get_field(key).is_some())
            }
            _ => None,
        }
    }

    /// Ints, bools and texts.
    #[inline]
    pub(super) fn comparison<'s>(&mut self, binary: &'s Binary, scope: &'s Scope<'s>) -> Option<bool>
    where
        'r: 's,
    {
        use BinaryOp::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
        if binary.op.is_arithmetic() {
            return None;
        }
        let right = self.operand(&binary.right, scope, LEVELS)?;
        let left = self.operand(&binary.left, scope, LEVELS)?;
        if let (Some(a), Some(b)) = (left.int(), right.int()) {
            let truth = match binary.op {
                Equal => a == b,
                NotEqual => a != b,
                Less => a < b,
                LessEqual => a <= b,
                Greater => a > b,
                GreaterEqual => a >= b,
                _ => return None,
            };
            return self.context.charge_if_affordable(1).then_some(truth);
        }
        let (Short::Ref(left), Short::Ref(right)) = (left, right) else { return None };
        let (same, cost) = match (left, right) {
            (Value::String(a), Value::String(b)) => (a == b, price::comparison(left, right)),
            (Value::Bool(a), Value::Bool(b)) => (a == b, 1),
            _ => return None,
        };
        let truth = match binary.op {
            Equal => same,
            NotEqual => !same,
            _ => return None,
        };
        self.context.charge_if_affordable(cost).then_some(truth)
    }

    /// The operand of an operator: what [`Run::peek`] finds, or a sum down to `levels` below.
    ///
    /// Not deeper: where the short way ends, the long one goes down a level and tries again, so that the work would be the square
    /// of the depth.
    #[inline]
    fn operand<'s>(&mut self, node: &'s Node, scope: &'s Scope<'s>, levels: u32) -> Option<Short<'s>>
    where
        'r: 's,
    {
        match &node.op {
            Op::Binary(binary) => self.sum(binary, scope, levels.checked_sub(1)?).map(Short::Int),
            _ => self.peek(node, scope).map(Short::Ref),
        }
    }

    /// Arithmetic of ints. The right operand first: in a chain it is a leaf, and if it has no short way the left one is not
    /// computed in vain.
    pub(super) fn sum<'s>(&mut self, binary: &'s Binary, scope: &'s Scope<'s>, levels: u32) -> Option<i64>
    where
        'r: 's,
    {
        if P::ON || !binary.of_ints {
            return None;
        }
        let b = self.operand(&binary.right, scope, levels)?.int()?;
        let a = self.operand(&binary.left, scope, levels)?.int()?;
        let result = match binary.op {
            BinaryOp::Add => a.checked_add(b),
            BinaryOp::Subtract => a.checked_sub(b),
            BinaryOp::Multiply => a.checked_mul(b),
            BinaryOp::Divide => a.checked_div(b),
            BinaryOp::Modulo => a.checked_rem(b),
            _ => None,
        }?;
        self.context.charge_if_affordable(1).then_some(result)
    }

    /// A chain of texts joined by `+`, made at once: what the chain's parts would be is only counted.
    pub(super) fn joined_texts<'s>(&mut self, binary: &'s Binary, scope: &'s Scope<'s>) -> Option<Value>
    where
        'r: 's,
    {
        // Last first, since the chain is read from its end.
        let mut texts: [&str; MOST_TEXTS] = [""; MOST_TEXTS];
        let mut at = Some(binary);
        let mut known = 0;
        while let Some(Binary { op: BinaryOp::Add, left, right, target, of_ints: false }) = at
            && target.resolved
            && !P::ON
        {
            *texts.get_mut(known)? = self.text(right, scope)?;
            known += 1;
            at = match &left.op {
                Op::Binary(inner) => Some(inner),
                _ => {
                    *texts.get_mut(known)? = self.text(left, scope)?;
                    known += 1;
                    None
                }
            };
        }
        let (None, [rest @ .., first]) = (at, texts.get(..known)?) else { return None };
        let (mut size, mut bytes) = (cost::code_points(first), first.len() as u64);
        let (mut price, mut work) = (0, 0);
        for text in rest.iter().rev() {
            size += cost::code_points(text);
            bytes += text.len() as u64;
            price += cost::tenth(size);
            work += bytes;
        }
        if !self.context.charge_if_affordable(price) {
            return None;
        }
        self.context.spend(work).ok()?;
        Some(Value::String(operators::joined(texts.get(..known)?.iter().rev().copied())))
    }

    fn text<'s>(&mut self, node: &'s Node, scope: &'s Scope<'s>) -> Option<&'s str>
    where
        'r: 's,
    {
        match self.peek(node, scope)? {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    fn text_test<'s>(&mut self, call: &'s Call, scope: &'s Scope<'s>) -> Option<bool>
    where
        'r: 's,
    {
        let (test, [text, part]) = (call.text_test?, &*call.arguments) else { return None };
        let (text, part) = (self.peek(text, scope)?, self.peek(part, scope)?);
        let (Value::String(t), Value::String(p)) = (text, part) else { return None };
        let truth = match test {
            TextTest::StartsWith => t.starts_with(&**p),
            TextTest::EndsWith => t.ends_with(&**p),
            TextTest::Contains => t.contains(&**p),
        };
        let cost = match (call.target.resolved, test) {
            (false, _) => 1,
            (true, TextTest::StartsWith | TextTest::EndsWith) => price::traversal(text),
            (true, TextTest::Contains) => price::traversal(text).saturating_mul(price::traversal(part)),
        };
        self.context.charge_if_affordable(cost).then_some(truth)
    }
}

/// An iteration variable.
#[inline]
fn bound_local<'s>(local: Local, scope: &'s Scope<'s>) -> Option<&'s Value> {
    let mut at = scope;
    for _ in 0..local.up {
        at = at.outer?;
    }
    match local.which {
        Which::First => at.first,
        Which::Second => at.second,
        Which::Accumulator => None,
    }
}
