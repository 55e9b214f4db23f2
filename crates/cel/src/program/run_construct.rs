//! List, map and object literals that are not constants.
//!
//! Absent: those that are (plan).
use super::{
    node::{Element, Entry},
    price,
    probe::Probe,
    run::{Outcome, Run, Scope, Val, merge},
};
use crate::{
    ast::NodeId,
    eval::{ErrorKind, Halt},
    value::{Key, MapBuilder, Value},
};

impl<'r, P: Probe> Run<'r, '_, P> {
    #[inline(never)]
    pub(super) fn list<'s>(&mut self, id: NodeId, elements: &'s [Element], scope: &'s Scope<'s>) -> Outcome<'s>
    where
        'r: 's,
    {
        let mut values = Vec::with_capacity(elements.len());
        let mut halted = None;
        for element in elements {
            match self.eval(&element.value, scope).map(Val::own) {
                Ok(Value::Optional(held)) if element.optional => values.extend(held.map(|v| Value::clone(&v))),
                Ok(other) if element.optional => {
                    let message = format!("cannot initialize optional list element from non-optional value {other}");
                    merge(&mut halted, self.fail(element.value.id, ErrorKind::InvalidArgument, message));
                    break;
                }
                Ok(value) => values.push(value),
                Err(halt) if halt.is_fatal() => return Err(halt),
                Err(halt) => {
                    let stop = matches!(halt, Halt::Error(_));
                    merge(&mut halted, halt);
                    if stop {
                        break;
                    }
                }
            }
        }
        self.context.charge(price::LIST)?;
        let _ = id;
        match halted {
            None => Ok(Val::Own(values.into())),
            Some(halt) => Err(halt),
        }
    }

    #[inline(never)]
    pub(super) fn map<'s>(
        &mut self,
        id: NodeId,
        entries: &'s [Entry],
        unique: bool,
        scope: &'s Scope<'s>,
    ) -> Outcome<'s>
    where
        'r: 's,
    {
        self.entries(id, entries, (price::MAP, unique), scope)
    }

    #[inline(never)]
    pub(super) fn object<'s>(&mut self, id: NodeId, fields: &'s [Entry], scope: &'s Scope<'s>) -> Outcome<'s>
    where
        'r: 's,
    {
        self.entries(id, fields, (price::OBJECT, true), scope)
    }

    fn entries<'s>(
        &mut self,
        id: NodeId,
        entries: &'s [Entry],
        (base, unique): (u64, bool),
        scope: &'s Scope<'s>,
    ) -> Outcome<'s>
    where
        'r: 's,
    {
        let mut map = MapBuilder::with_capacity(entries.len());
        let mut halted = None;
        for entry in entries {
            match self.entry(entry, &mut map, unique, scope) {
                Ok(()) => {}
                Err(halt) if halt.is_fatal() => return Err(halt),
                Err(halt) => {
                    let stop = matches!(halt, Halt::Error(_));
                    merge(&mut halted, halt);
                    if stop {
                        break;
                    }
                }
            }
        }
        self.context.charge(base)?;
        match halted {
            None => Ok(Val::Own(Value::Map(map.build()))),
            Some(halt) => Err(self.place(id, halt)),
        }
    }

    fn entry<'s>(
        &mut self,
        entry: &'s Entry,
        map: &mut MapBuilder,
        unique: bool,
        scope: &'s Scope<'s>,
    ) -> Result<(), Halt>
    where
        'r: 's,
    {
        let key = self.eval(&entry.key, scope)?;
        let key = Key::from_value(key.get()).ok_or_else(|| {
            let message = format!("unsupported key type: {}", super::run_call::type_name(key.get()));
            self.fail(entry.key.id, ErrorKind::InvalidArgument, message)
        });
        let value = self.eval(&entry.value, scope)?.own();
        let key = key?;
        if let Key::String(key) = &key {
            self.context.spend(key.len() as u64 / 8)?;
        }
        if unique && map.contains(&key) {
            return Err(self.fail(
                entry.key.id,
                ErrorKind::InvalidArgument,
                format!("Failed with repeated key: {key}"),
            ));
        }
        let value = match value {
            Value::Optional(None) if entry.optional => {
                map.remove(&key);
                return Ok(());
            }
            Value::Optional(Some(held)) if entry.optional => Value::clone(&held),
            other if entry.optional => {
                let message = format!("cannot initialize optional entry '{key}' from non-optional value {other}");
                return Err(self.fail(entry.value.id, ErrorKind::InvalidArgument, message));
            }
            value => value,
        };
        // The checker let it pass as `dyn`.
        if !entry.fit.takes(&value) {
            let ty = super::run_call::type_name(&value);
            let message = format!("unexpected type {ty} for field '{key}'");
            return Err(self.fail(entry.value.id, ErrorKind::InvalidArgument, message));
        }
        map.insert(key, value);
        Ok(())
    }
}
