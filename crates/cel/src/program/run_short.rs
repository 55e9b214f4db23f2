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
use crate::{eval::Bound, value::Value};

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
        if P::ON || !attribute.fields_only || attribute.test {
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

    /// Along all fields but the last `leave`.
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
            match (&qualifier.key, at) {
                (QualifierKey::Field(key), Value::Map(map)) => at = map.get_field(key)?,
                _ => return None,
            }
        }
        Some(at)
    }

    fn presence<'s>(&mut self, attribute: &'s Attribute, scope: &'s Scope<'s>) -> Option<bool>
    where
        'r: 's,
    {
        if !attribute.fields_only {
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
        let left = self.peek(&binary.left, scope)?;
        let right = self.peek(&binary.right, scope)?;
        let (truth, cost) = match (left, right) {
            (Value::Int(a), Value::Int(b)) => {
                let truth = match binary.op {
                    Equal => a == b,
                    NotEqual => a != b,
                    Less => a < b,
                    LessEqual => a <= b,
                    Greater => a > b,
                    GreaterEqual => a >= b,
                    _ => return None,
                };
                (truth, 1)
            }
            (Value::String(a), Value::String(b)) => {
                let truth = match binary.op {
                    Equal => a == b,
                    NotEqual => a != b,
                    _ => return None,
                };
                (truth, price::comparison(left, right))
            }
            (Value::Bool(a), Value::Bool(b)) => match binary.op {
                Equal => (a == b, 1),
                NotEqual => (a != b, 1),
                _ => return None,
            },
            _ => return None,
        };
        self.context.charge_if_affordable(cost).then_some(truth)
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
