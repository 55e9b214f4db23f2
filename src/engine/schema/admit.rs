//! Admitting a value to a schema: defaults, pruning, numbers, nulls, in one pass that copies only what changes.
//!
//! Absent: whether the value fits (validate).
use std::sync::Arc;

use cel::{
    Value,
    value::{Key, Map, MapBuilder},
};

use crate::engine::{
    diagnostic::FieldPath,
    schema::{
        MAX_DEPTH, Structural,
        metadata::OBJECT_META,
        structural::{Additional, SchemaType},
        trail::Trail,
    },
};

/// Unknown fields that are listed, as Kubernetes' decoder lists at most.
const MAX_UNKNOWN: usize = 100;

/// Fields that defaults may add to one value. A megabyte holds 300,000 empty objects, to each of which a schema may add hundreds
/// of fields.
pub const MAX_DEFAULTED: usize = 100_000;

/// Defaults would add more than [`MAX_DEFAULTED`] fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("defaults would add more than {MAX_DEFAULTED} fields")]
pub struct DefaultsError;

/// Fills in defaults. A null where none may be takes the default or, without one, goes. Idempotent.
///
/// # Errors
/// There are too many.
pub fn default(schema: &Structural, value: Value) -> Result<Value, DefaultsError> {
    let (defaulted, pass) = Pass::of(false, Some(MAX_DEFAULTED)).over(schema, value);
    if pass.room.is_none() { Err(DefaultsError) } else { Ok(defaulted) }
}

/// Drops what the schema does not know, and says what that was, the first hundred of it: `spec.objs[0].y`. Idempotent.
pub fn prune(schema: &Structural, value: Value) -> (Value, Vec<String>) {
    let (pruned, pass) = Pass { default: false, ..Pass::of(true, Some(0)) }.over(schema, value);
    (pruned, pass.unknown)
}

/// Both in one pass, for what an author wrote: as many defaults as his schema has.
pub fn admit(schema: &Structural, value: Value) -> (Value, Vec<String>) {
    let (admitted, pass) = Pass::of(true, Some(usize::MAX)).over(schema, value);
    (admitted, pass.unknown)
}

/// Both in one pass, for what somebody sent: the same as [`default`], then [`prune`].
///
/// # Errors
/// There are too many defaults.
pub fn admit_bounded(schema: &Structural, value: Value) -> Result<(Value, Vec<String>), DefaultsError> {
    let (admitted, pass) = Pass::of(true, Some(MAX_DEFAULTED)).over(schema, value);
    if pass.room.is_none() { Err(DefaultsError) } else { Ok((admitted, pass.unknown)) }
}

struct Pass {
    prune: bool,
    default: bool,
    unknown: Vec<String>,
    /// Fields that may still be added; `None` where there was one too many.
    room: Option<usize>,
}

/// What becomes of one entry of a map.
pub(super) enum Change {
    /// Another value.
    Replace(Value),
    /// It goes.
    Remove,
}

/// A map after changes, each at the position of its entry, in order; then what is added, which is not there.
pub(super) fn rebuild(map: &Map, changes: Vec<(usize, Change)>, added: Vec<(Arc<str>, Value)>) -> Option<Map> {
    if changes.is_empty() && added.is_empty() {
        return None;
    }
    let mut out = MapBuilder::with_capacity(map.len() + added.len());
    let mut changes = changes.into_iter().peekable();
    for (i, (key, value)) in map.iter().enumerate() {
        match changes.next_if(|(at, _)| *at == i).map(|(_, change)| change) {
            Some(Change::Remove) => {}
            Some(Change::Replace(new)) => out.push(key.clone(), new),
            None => out.push(key.clone(), value.clone()),
        }
    }
    for (name, value) in added {
        out.push(name, value);
    }
    Some(out.build())
}

impl Pass {
    fn of(prune: bool, room: Option<usize>) -> Pass {
        Pass { prune, default: true, unknown: Vec::new(), room }
    }

    /// The value as it is after the pass.
    fn over(mut self, schema: &Structural, value: Value) -> (Value, Pass) {
        let changed = self.node(schema, &value, &Trail::Root(&FieldPath::root()), 0);
        (changed.unwrap_or(value), self)
    }

    /// `None` where nothing changes, so that the caller keeps the very same value.
    fn node(&mut self, schema: &Structural, value: &Value, at: &Trail<'_>, depth: usize) -> Option<Value> {
        if depth > MAX_DEPTH {
            return None;
        }
        match value {
            Value::Map(map) => self.map(schema, map, at, depth).map(Value::Map),
            Value::List(list) => {
                let items = schema.items.as_deref()?;
                let mut changed: Option<Vec<Value>> = None;
                for (i, item) in list.as_slice().iter().enumerate() {
                    if let Some(new) = self.item(items, item, &Trail::Index(at, i), depth)
                        && let Some(slot) = changed.get_or_insert_with(|| list.as_slice().to_vec()).get_mut(i)
                    {
                        *slot = new;
                    }
                }
                changed.map(|items| Value::List(items.into()))
            }
            scalar => number(schema, scalar),
        }
    }

    fn item(&mut self, schema: &Structural, item: &Value, at: &Trail<'_>, depth: usize) -> Option<Value> {
        if self.default
            && matches!(item, Value::Null)
            && !schema.nullable
            && let Some(default) = &schema.default
        {
            return Some(self.filled(schema, default, at, depth));
        }
        self.node(schema, item, at, depth + 1)
    }

    /// A default with the defaults within it.
    fn filled(&mut self, schema: &Structural, default: &Value, at: &Trail<'_>, depth: usize) -> Value {
        self.node(schema, default, at, depth + 1).unwrap_or_else(|| default.clone())
    }

    fn map(&mut self, schema: &Structural, map: &Map, at: &Trail<'_>, depth: usize) -> Option<Map> {
        let mut changes: Vec<(usize, Change)> = Vec::new();
        for (i, (key, value)) in map.iter().enumerate() {
            let Key::String(name) = key else { continue };
            if let Some(change) = self.entry(schema, name, value, at, depth) {
                changes.push((i, change));
            }
        }
        let mut added: Vec<(Arc<str>, Value)> = Vec::new();
        if self.default {
            for (name, property) in schema.properties.iter() {
                if let Some(default) = &property.default
                    && map.get(name).is_none()
                {
                    self.room = self.room.and_then(|room| room.checked_sub(1));
                    if self.room.is_none() {
                        break;
                    }
                    added.push((name.clone(), self.filled(property, default, &Trail::Field(at, name), depth)));
                }
            }
        }
        rebuild(map, changes, added)
    }

    fn entry(
        &mut self,
        schema: &Structural,
        name: &Arc<str>,
        value: &Value,
        at: &Trail<'_>,
        depth: usize,
    ) -> Option<Change> {
        let here = Trail::Field(at, name);
        let Some(known) = known(schema, name) else {
            let dropped = self.prune && closed(schema);
            return dropped.then(|| {
                if self.unknown.len() < MAX_UNKNOWN {
                    self.unknown.push(here.dotted());
                }
                Change::Remove
            });
        };
        if self.default && matches!(value, Value::Null) && !known.nullable {
            return Some(match &known.default {
                Some(default) => Change::Replace(self.filled(known, default, &here, depth)),
                None => Change::Remove,
            });
        }
        self.node(known, value, &here, depth + 1).map(Change::Replace)
    }
}

/// The schema of an entry. `apiVersion` and `kind` of embedded resources need none: they hold nothing to change.
fn known<'a>(schema: &'a Structural, name: &str) -> Option<&'a Structural> {
    if let Some(property) = schema.field(name) {
        return Some(property);
    }
    (schema.embedded_resource && name == "metadata").then(|| &**OBJECT_META).filter(|_| !schema.preserve_unknown_fields)
}

/// Whether an object of this schema holds nothing but what is named.
fn closed(schema: &Structural) -> bool {
    schema.ty == Some(SchemaType::Object)
        && !schema.preserve_unknown_fields
        && !matches!(schema.additional, Some(Additional::Anything))
}

/// JSON has one kind of numbers, CEL has two: the schema decides. Nothing is rounded.
pub(super) fn number(schema: &Structural, value: &Value) -> Option<Value> {
    match (schema.ty, value) {
        (Some(SchemaType::Integer), Value::Double(number)) => integral(*number).map(Value::Int),
        (None, Value::Double(number)) if schema.int_or_string => integral(*number).map(Value::Int),
        (Some(SchemaType::Integer), Value::Uint(number)) => i64::try_from(*number).ok().map(Value::Int),
        (Some(SchemaType::Number), Value::Int(number)) => exact(*number).map(Value::Double),
        (Some(SchemaType::Number), Value::Uint(number)) => exact(i64::try_from(*number).ok()?).map(Value::Double),
        _ => None,
    }
}

/// The integer that a double is.
#[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
pub(super) fn integral(number: f64) -> Option<i64> {
    // 2^63: the first double past the integers.
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    (number.fract() == 0.0 && (-LIMIT..LIMIT).contains(&number)).then_some(number as i64)
}

/// The double that an integer is.
#[expect(clippy::cast_precision_loss, reason = "the range is checked")]
fn exact(number: i64) -> Option<f64> {
    // Up to 2^53 every integer is a double.
    (number.unsigned_abs() <= 1 << 53).then_some(number as f64)
}
