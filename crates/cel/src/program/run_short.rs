//! Short ways: what most evaluations are made of — a field compared with a constant, a text that starts so — without a value on
//! the way, only references and a bool.
//!
//! A short way either gives what the long one would and charges the same, or gives nothing and leaves no trace; then the long way
//! is gone from the start. So errors, unknowns, optionals and an exhausted budget are the long way's business alone.
use super::{
    node::{Attribute, Binary, BinaryOp, Call, Known, Local, Node, Op, QualifierKey, Root, Which},
    price,
    probe::Probe,
    run::{Run, Scope, Val},
    run_call,
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
pub(super) enum Short<'s> {
    Ref(&'s Value),
    Int(i64),
    Double(f64),
}

impl<'s> From<Short<'s>> for Val<'s> {
    #[inline]
    fn from(short: Short<'s>) -> Val<'s> {
        match short {
            Short::Ref(value) => Val::Ref(value),
            Short::Int(i) => Val::Own(Value::Int(i)),
            Short::Double(d) => Val::Own(Value::Double(d)),
        }
    }
}

impl<'s> Short<'s> {
    #[inline]
    fn int(self) -> Option<i64> {
        match self {
            Short::Int(i) => Some(i),
            Short::Ref(Value::Int(i)) => Some(*i),
            Short::Ref(_) | Short::Double(_) => None,
        }
    }

    #[inline]
    fn double(self) -> Option<f64> {
        match self {
            Short::Double(d) => Some(d),
            Short::Ref(Value::Double(d)) => Some(*d),
            Short::Ref(_) | Short::Int(_) => None,
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
            Op::Call(call) => match call.known {
                Some(Known::Not) => self.negation(call, scope),
                Some(Known::HasValue) => self.has_value(call, scope),
                _ => self.text_test(call, scope),
            },
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
    ///
    /// Always inline: it is mostly a test of one byte and a load, and left to itself the compiler calls it.
    #[inline(always)]
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

    /// What stands at the end of an optional attribute without computed keys, or that there is nothing; charged.
    pub(super) fn peek_optional<'s>(&mut self, node: &'s Node, scope: &'s Scope<'s>) -> Option<Option<&'s Value>>
    where
        'r: 's,
    {
        let Op::Attribute(attribute) = &node.op else { return None };
        if P::ON || attribute.test {
            return None;
        }
        let mut at = self.root(&attribute.root, scope)?;
        let (mut optional, mut cost) = (false, attribute.own_cost);
        for qualifier in &attribute.qualifiers {
            optional |= qualifier.optional;
            // What has no keys, and keys that are none, are the long way's.
            let (QualifierKey::Field(key), Value::Map(map)) = (&qualifier.key, at) else { return None };
            match map.get_field(key) {
                Some(found) => at = found,
                None if optional => return self.context.charge_if_affordable(cost).then_some(None),
                None => return None,
            }
            cost += 1;
        }
        (optional && self.context.charge_if_affordable(cost)).then_some(Some(at))
    }

    #[inline(never)]
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

    #[inline]
    fn root<'s>(&self, root: &'s Root, scope: &'s Scope<'s>) -> Option<&'s Value>
    where
        'r: 's,
    {
        match root {
            Root::Variable(_, slot) => self.bound(*slot),
            Root::Local(_, local) => bound_local(*local, scope),
            Root::Node(_) => None,
        }
    }

    /// Along all qualifiers but the last `leave`.
    #[inline(always)]
    fn walk<'s>(&self, attribute: &'s Attribute, scope: &'s Scope<'s>, leave: usize) -> Option<&'s Value>
    where
        'r: 's,
    {
        let mut at = self.root(&attribute.root, scope)?;
        let steps = attribute.qualifiers.len().saturating_sub(leave);
        for qualifier in attribute.qualifiers.iter().take(steps) {
            at = match (&qualifier.key, at) {
                (QualifierKey::Field(key), Value::Map(map)) => map.get_field(key)?,
                (QualifierKey::Field(_), _) => return None,
                (key, _) => self.step_by_key(key, at, scope)?,
            };
        }
        Some(at)
    }

    #[inline(never)]
    fn step_by_key<'s>(&self, key: &'s QualifierKey, at: &'s Value, scope: &'s Scope<'s>) -> Option<&'s Value>
    where
        'r: 's,
    {
        match key {
            QualifierKey::Const(key) => at_key(at, key),
            QualifierKey::Node(node) => {
                let key = self.variable_at_hand(node, scope)?;
                // A long one is counted.
                if price::key_work(key) > price::ROUND_WORK { None } else { at_key(at, key) }
            }
            QualifierKey::Field(_) => None,
        }
    }

    fn variable_at_hand<'s>(&self, node: &'s Node, scope: &'s Scope<'s>) -> Option<&'s Value>
    where
        'r: 's,
    {
        match node.op {
            Op::Variable(slot) => self.bound(slot),
            Op::Local(local) => bound_local(local, scope),
            _ => None,
        }
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

    /// Ints, doubles, bools and texts.
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
        let (Some(a), Some(b)) = (left.int(), right.int()) else {
            return self.comparison_of_others(binary, left, right);
        };
        let truth = match binary.op {
            Equal => a == b,
            NotEqual => a != b,
            Less => a < b,
            LessEqual => a <= b,
            Greater => a > b,
            GreaterEqual => a >= b,
            _ => return None,
        };
        self.context.charge_if_affordable(1).then_some(truth)
    }

    #[inline(never)]
    fn comparison_of_others(&mut self, binary: &Binary, left: Short<'_>, right: Short<'_>) -> Option<bool> {
        use BinaryOp::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
        if let (Some(a), Some(b)) = (left.double(), right.double()) {
            let truth = match binary.op {
                Equal => a == b,
                NotEqual => a != b,
                // What is no number has no order, which is an error: the long way's.
                Less => a.partial_cmp(&b)?.is_lt(),
                LessEqual => a.partial_cmp(&b)?.is_le(),
                Greater => a.partial_cmp(&b)?.is_gt(),
                GreaterEqual => a.partial_cmp(&b)?.is_ge(),
                _ => return None,
            };
            return self.context.charge_if_affordable(1).then_some(truth);
        }
        let (Short::Ref(left), Short::Ref(right)) = (left, right) else { return None };
        let (truth, cost) = match (left, right, binary.op) {
            (Value::String(a), Value::String(b), Equal) => (a == b, price::comparison(left, right)),
            (Value::String(a), Value::String(b), NotEqual) => (a != b, price::comparison(left, right)),
            (Value::String(a), Value::String(b), Less | LessEqual | Greater | GreaterEqual)
                if binary.target.resolved =>
            {
                let order = a.as_bytes().cmp(b.as_bytes());
                let truth = match binary.op {
                    Less => order.is_lt(),
                    LessEqual => order.is_le(),
                    Greater => order.is_gt(),
                    _ => order.is_ge(),
                };
                (truth, price::comparison(left, right))
            }
            (Value::Bool(a), Value::Bool(b), Equal) => (a == b, 1),
            (Value::Bool(a), Value::Bool(b), NotEqual) => (a != b, 1),
            _ => return None,
        };
        self.context.charge_if_affordable(cost).then_some(truth)
    }

    /// The operand of an operator: what [`Run::peek`] finds, or a sum down to `levels` below.
    ///
    /// Not deeper: where the short way ends, the long one goes down a level and tries again, so that the work would be the square
    /// of the depth.
    #[inline(always)]
    pub(super) fn operand<'s>(&mut self, node: &'s Node, scope: &'s Scope<'s>, levels: u32) -> Option<Short<'s>>
    where
        'r: 's,
    {
        match &node.op {
            Op::Binary(binary) => self.sum(binary, scope, levels.checked_sub(1)?),
            Op::Call(call) => self.number_call(call, scope),
            _ => self.peek(node, scope).map(Short::Ref),
        }
    }

    /// Arithmetic of ints or doubles. The right operand first: in a chain it is a leaf, and if it has no short way the left one is not
    /// computed in vain.
    #[inline(never)]
    pub(super) fn sum<'s>(&mut self, binary: &'s Binary, scope: &'s Scope<'s>, levels: u32) -> Option<Short<'s>>
    where
        'r: 's,
    {
        if P::ON || !binary.of_numbers {
            return None;
        }
        let right = self.operand(&binary.right, scope, levels)?;
        let result = match (right.int(), right.double()) {
            (Some(b), _) => {
                let a = self.operand(&binary.left, scope, levels)?.int()?;
                Short::Int(match binary.op {
                    BinaryOp::Add => a.checked_add(b),
                    BinaryOp::Subtract => a.checked_sub(b),
                    BinaryOp::Multiply => a.checked_mul(b),
                    BinaryOp::Divide => a.checked_div(b),
                    BinaryOp::Modulo => a.checked_rem(b),
                    _ => None,
                }?)
            }
            (_, Some(b)) => {
                let a = self.operand(&binary.left, scope, levels)?.double()?;
                Short::Double(match binary.op {
                    BinaryOp::Add => a + b,
                    BinaryOp::Subtract => a - b,
                    BinaryOp::Multiply => a * b,
                    BinaryOp::Divide => a / b,
                    _ => return None,
                })
            }
            _ => return None,
        };
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
        while let Some(Binary { op: BinaryOp::Add, left, right, target, of_numbers: false }) = at
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

    /// `size(x)` of a list or map, whose size is known, and `-x` of an int or double.
    #[inline(never)]
    pub(super) fn number_call<'s>(&mut self, call: &'s Call, scope: &'s Scope<'s>) -> Option<Short<'s>>
    where
        'r: 's,
    {
        let (Some(known @ (Known::Size | Known::Negate)), [argument]) = (call.known, &*call.arguments) else {
            return None;
        };
        let value = self.peek(argument, scope)?;
        let result = match (known, value) {
            (Known::Size, Value::List(list)) => Short::Int(i64::try_from(list.len()).ok()?),
            (Known::Size, Value::Map(map)) => Short::Int(i64::try_from(map.len()).ok()?),
            (Known::Negate, Value::Int(i)) => Short::Int(i.checked_neg()?),
            (Known::Negate, Value::Double(d)) => Short::Double(-d),
            _ => return None,
        };
        let price = run_call::price_of(&call.target, std::slice::from_ref(value));
        self.context.charge_if_affordable(price).then_some(result)
    }

    /// `!x`, but not of another: for their levels see [`Run::operand`].
    fn negation<'s>(&mut self, call: &'s Call, scope: &'s Scope<'s>) -> Option<bool>
    where
        'r: 's,
    {
        let [operand] = &*call.arguments else { return None };
        if matches!(&operand.op, Op::Call(inner) if inner.known == Some(Known::Not)) {
            return None;
        }
        let truth = self.truth(operand, scope)?;
        let price = run_call::price_of(&call.target, &[Value::Bool(truth)]);
        self.context.charge_if_affordable(price).then_some(!truth)
    }

    fn has_value<'s>(&mut self, call: &'s Call, scope: &'s Scope<'s>) -> Option<bool>
    where
        'r: 's,
    {
        let [optional] = &*call.arguments else { return None };
        let truth = self.peek_optional(optional, scope)?.is_some();
        let price = run_call::price_of(&call.target, &[Value::NONE]);
        self.context.charge_if_affordable(price).then_some(truth)
    }

    fn text_test<'s>(&mut self, call: &'s Call, scope: &'s Scope<'s>) -> Option<bool>
    where
        'r: 's,
    {
        let (test, [text, part]) = (call.known?, &*call.arguments) else { return None };
        let (text, part) = (self.peek(text, scope)?, self.peek(part, scope)?);
        let (Value::String(t), Value::String(p)) = (text, part) else { return None };
        if !call.target.resolved {
            self.context.spend(price::key_work(text)).ok()?;
        }
        let truth = match test {
            Known::StartsWith => t.starts_with(&**p),
            Known::EndsWith => t.ends_with(&**p),
            Known::Contains => t.contains(&**p),
            Known::Not | Known::HasValue | Known::Size | Known::Negate | Known::SortByKeys => return None,
        };
        let cost = match (call.target.resolved, test) {
            (false, _) => 1,
            (true, Known::Contains) => price::traversal(text).saturating_mul(price::traversal(part)),
            (true, _) => price::traversal(text),
        };
        self.context.charge_if_affordable(cost).then_some(truth)
    }
}

/// What is there under a key that is no field.
#[inline(never)]
fn at_key<'s>(value: &'s Value, key: &Value) -> Option<&'s Value> {
    match (value, key) {
        (Value::Map(map), key) => map.get_value(key),
        (Value::List(list), Value::Int(index)) => list.as_slice().get(usize::try_from(*index).ok()?),
        _ => None,
    }
}

/// An iteration variable.
#[inline(always)]
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
