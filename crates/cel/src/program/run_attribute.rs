//! Walking attributes: by reference from the root, one qualifier after the other.
//!
//! Absent: how they are found in the syntax tree (plan_attribute).
use super::{
    node::{Attribute, Op, Qualifier, QualifierKey, Root},
    probe::Probe,
    run::{Outcome, Run, Scope, Val},
};
use crate::{
    eval::{ErrorKind, Halt},
    value::{FieldKey, List, Value, double_as_int},
};

/// What a qualifier looks for.
enum Wanted<'a> {
    Field(&'a FieldKey),
    Value(&'a Value),
}

impl<'r, P: Probe> Run<'r, '_, P> {
    pub(super) fn charged_attribute<'s>(&mut self, attribute: &'s Attribute, scope: &'s Scope<'s>) -> Outcome<'s>
    where
        'r: 's,
    {
        if let Some(value) = self.peek_attribute(attribute, scope) {
            return Ok(Val::Ref(value));
        }
        let result = self.attribute(attribute, scope);
        if let Err(halt) = &result
            && halt.is_fatal()
        {
            return result;
        }
        self.context.charge(attribute.own_cost)?;
        result
    }

    pub(super) fn attribute<'s>(&mut self, attribute: &'s Attribute, scope: &'s Scope<'s>) -> Outcome<'s>
    where
        'r: 's,
    {
        let root = match &attribute.root {
            Root::Variable(id, slot) => self.variable(*id, *slot)?,
            Root::Local(id, local) => self.local(*id, *local, scope)?,
            Root::Node(node) if matches!(node.op, Op::Conditional(_)) => self.resolve(node, scope)?,
            Root::Node(node) => self.eval(node, scope)?,
        };
        self.qualify(attribute, root, scope)
    }

    fn qualify<'s>(&mut self, attribute: &'s Attribute, root: Val<'s>, scope: &'s Scope<'s>) -> Outcome<'s>
    where
        'r: 's,
    {
        let mut optional = false;
        let mut at = root;
        if let Value::Optional(held) = at.get() {
            let Some(held) = held else {
                return Ok(if attribute.test { false.into() } else { at });
            };
            optional = true;
            at = Val::Own(Value::clone(held));
        }
        let last = attribute.qualifiers.len().wrapping_sub(1);
        for (i, qualifier) in attribute.qualifiers.iter().enumerate() {
            optional |= qualifier.optional;
            match self.step(qualifier, at, (optional, attribute.lenient || attribute.test && i == last), scope)? {
                Ok(next) => at = next,
                Err(_) if attribute.test && i == last => return Ok(false.into()),
                Err(_) if optional => return Ok(if attribute.test { false.into() } else { Val::Own(Value::NONE) }),
                Err(halt) => return Err(halt),
            }
        }
        Ok(match (attribute.test, optional) {
            (true, _) => true.into(),
            (false, true) => Val::Own(Value::some(at.own())),
            (false, false) => at,
        })
    }

    /// One step. The inner error is that the step leads nowhere, which an optional chain and `has()` bear.
    #[inline]
    fn step<'s>(
        &mut self,
        qualifier: &'s Qualifier,
        from: Val<'s>,
        (optional, lenient): (bool, bool),
        scope: &'s Scope<'s>,
    ) -> Result<Result<Val<'s>, Halt>, Halt>
    where
        'r: 's,
    {
        let computed;
        let wanted = match &qualifier.key {
            QualifierKey::Field(key) => {
                // The road that nearly all steps take.
                if let (Val::Ref(Value::Map(map)), false) = (&from, optional) {
                    self.context.charge(1)?;
                    if let Some(found) = map.get_field(key) {
                        return Ok(Ok(Val::Ref(found)));
                    }
                    return Ok(Err(self.missing(qualifier, from.get(), &Wanted::Field(key))));
                }
                Wanted::Field(key)
            }
            QualifierKey::Const(value) => Wanted::Value(value),
            QualifierKey::Node(node) => {
                computed = match self.resolve(node, scope) {
                    Ok(key) => key,
                    Err(halt) => {
                        if !optional && !halt.is_fatal() {
                            self.context.charge(1)?;
                        }
                        return Err(halt);
                    }
                };
                Wanted::Value(computed.get())
            }
        };
        let found = match &from {
            Val::Ref(value) => find(value, &wanted).map(|found| found.map(Val::Ref)),
            Val::Own(value) => find(value, &wanted).map(|found| found.map(|v| Val::Own(v.clone()))),
        };
        if !optional {
            self.context.charge(1)?;
        }
        match found {
            Ok(Some(found)) => {
                if optional {
                    self.context.charge(1)?;
                }
                Ok(Ok(found))
            }
            Ok(None) => {
                let halt = self.missing(qualifier, from.get(), &wanted);
                // An optional chain bears what is absent, and only a lenient one what has no fields at all.
                let bearable = !optional || lenient || matches!(from.get(), Value::Map(_) | Value::List(_));
                if bearable { Ok(Err(halt)) } else { Err(halt) }
            }
            Err(halt) => Err(self.place(qualifier.id, halt)),
        }
    }

    #[cold]
    fn missing(&self, qualifier: &Qualifier, from: &Value, wanted: &Wanted<'_>) -> Halt {
        let key = match wanted {
            Wanted::Field(key) => key.name().to_string(),
            Wanted::Value(value) => plain(value),
        };
        match from {
            Value::List(_) => {
                self.fail(qualifier.id, ErrorKind::IndexOutOfBounds, format!("index out of bounds: {key}"))
            }
            _ => self.fail(qualifier.id, ErrorKind::NoSuchKey, format!("no such key: {key}")),
        }
    }
}

/// A key as cel-go prints it.
fn plain(key: &Value) -> String {
    match key {
        Value::String(s) => s.to_string(),
        Value::Uint(u) => u.to_string(),
        Value::Double(d) => d.to_string(),
        key => key.to_string(),
    }
}

/// What is there under a key; nothing in what has no keys.
fn find<'v>(value: &'v Value, wanted: &Wanted<'_>) -> Result<Option<&'v Value>, Halt> {
    match (value, wanted) {
        (Value::Map(map), Wanted::Field(key)) => Ok(map.get_field(key)),
        (Value::Map(map), Wanted::Value(key)) => match map.get_value(key) {
            None if !is_key(key) => {
                let message = format!("invalid qualifier type: {}", super::run::go_type(key));
                Err(Halt::error(ErrorKind::InvalidArgument, message))
            }
            found => Ok(found),
        },
        (Value::List(list), Wanted::Value(index)) => element(list, index),
        (Value::List(_), Wanted::Field(_)) => Err(bad_index("type 'string'".into())),
        _ => Ok(None),
    }
}

fn is_key(value: &Value) -> bool {
    matches!(value, Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Double(_) | Value::String(_))
}

fn element<'v>(list: &'v List, index: &Value) -> Result<Option<&'v Value>, Halt> {
    let index = match index {
        Value::Int(i) => usize::try_from(*i).ok(),
        Value::Uint(u) => usize::try_from(*u).ok(),
        Value::Double(d) => match double_as_int(*d) {
            Some(i) => usize::try_from(i).ok(),
            None => return Err(bad_index(format!("value {d}"))),
        },
        other => return Err(bad_index(format!("type '{}'", super::run_call::type_name(other)))),
    };
    Ok(index.and_then(|i| list.as_slice().get(i)))
}

fn bad_index(what: String) -> Halt {
    Halt::error(ErrorKind::InvalidArgument, format!("unsupported index {what} in list"))
}
