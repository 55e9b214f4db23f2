//! Walking attributes: by reference from the root, one qualifier after the other.
//!
//! Absent: how they are found in the syntax tree (plan_attribute).
use super::{
    node::{Attribute, Node, Op, Qualifier, QualifierKey, Root},
    probe::Probe,
    run::{Outcome, Run, Scope, Val, unknown},
};
use crate::{
    eval::{Bound, ErrorKind, Halt, Pattern},
    value::{FieldKey, List, Value, double_as_int},
};

/// What a qualifier looks for.
enum Wanted<'a> {
    Field(&'a FieldKey),
    Value(&'a Value),
}

/// What a step that leads nowhere is, if not an error.
#[derive(Clone, Copy)]
enum Bears {
    Nothing,
    /// Absence from a map or list, but not that there are no fields at all.
    Absence,
    All,
}

impl Bears {
    fn absence_in(self, value: &Value) -> bool {
        match self {
            Bears::Nothing => false,
            Bears::Absence => matches!(value, Value::Map(_) | Value::List(_)),
            Bears::All => true,
        }
    }
}

/// The patterns of what is not known that an attribute may still meet on its way.
struct Undecided<'p> {
    patterns: Vec<&'p Pattern>,
    depth: usize,
}

impl<'p> Undecided<'p> {
    fn of(patterns: &'p [Pattern]) -> Result<Undecided<'p>, Halt> {
        let all = Undecided { patterns: patterns.iter().collect(), depth: 0 };
        all.met()?;
        Ok(all)
    }

    fn nothing(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Goes on with those that have this key next; those that end with it are unknown.
    fn step(&mut self, wanted: &Wanted<'_>) -> Result<(), Halt> {
        if self.nothing() {
            return Ok(());
        }
        let depth = self.depth;
        self.depth += 1;
        self.patterns.retain(|pattern| match (pattern.steps.get(depth), wanted) {
            (Some(None), _) => true,
            (Some(Some(Value::String(name))), Wanted::Field(key)) => name == key.name(),
            (Some(Some(key)), Wanted::Value(value)) => key == *value,
            _ => false,
        });
        self.met()
    }

    fn met(&self) -> Result<(), Halt> {
        let mut met = self.patterns.iter().copied().filter(|pattern| pattern.steps.len() == self.depth).peekable();
        if met.peek().is_some() { Err(unknown(met)) } else { Ok(()) }
    }

    /// The attribute ends: it holds what those that go on are about.
    fn end(self) -> Result<(), Halt> {
        if self.nothing() { Ok(()) } else { Err(unknown(self.patterns)) }
    }
}

impl<'r, P: Probe> Run<'r, '_, P> {
    pub(super) fn charged_attribute<'s>(&mut self, attribute: &'s Attribute, scope: &'s Scope<'s>) -> Outcome<'s>
    where
        'r: 's,
    {
        if let Some(value) = self.peek_attribute(attribute, scope) {
            return Ok(Val::Ref(value));
        }
        if attribute.test {
            let before = self.context.cost();
            if let Some(truth) = self.presence(attribute, scope) {
                return Ok(truth.into());
            }
            self.context.forget_back_to(before);
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
        let mut patterns: &[Pattern] = &[];
        let root = match &attribute.root {
            Root::Variable(id, slot) => match self.variables.variable(*slot) {
                Bound::Partly(value, unknown) => {
                    patterns = unknown;
                    Val::Ref(value)
                }
                _ => self.variable(*id, *slot)?,
            },
            Root::Local(id, local) => self.local(*id, *local, scope)?,
            Root::Node(node) if matches!(node.op, Op::Conditional(_)) => self.resolve(node, scope)?,
            Root::Node(node) => self.eval(node, scope)?,
        };
        self.qualify(attribute, root, Undecided::of(patterns)?, scope)
    }

    fn qualify<'s>(
        &mut self,
        attribute: &'s Attribute,
        root: Val<'s>,
        mut undecided: Undecided<'_>,
        scope: &'s Scope<'s>,
    ) -> Outcome<'s>
    where
        'r: 's,
    {
        let mut optional = false;
        let mut at = root;
        if let Value::Optional(held) = at.get() {
            let Some(held) = held else {
                let nothing = if attribute.test { false.into() } else { at };
                return self.ended(attribute, 0, Ok(nothing), undecided, scope);
            };
            optional = true;
            at = Val::Own(Value::clone(held));
        }
        let last = attribute.qualifiers.len().wrapping_sub(1);
        for (i, qualifier) in attribute.qualifiers.iter().enumerate() {
            optional |= qualifier.optional;
            let bears = if attribute.test && i == last {
                Bears::All
            } else if optional {
                if attribute.lenient { Bears::All } else { Bears::Absence }
            } else {
                Bears::Nothing
            };
            let key;
            let wanted = match &qualifier.key {
                QualifierKey::Field(key) => Wanted::Field(key),
                QualifierKey::Const(key) => Wanted::Value(key),
                QualifierKey::Node(node) => {
                    key = self.key(node, optional, scope)?;
                    Wanted::Value(key.get())
                }
            };
            undecided.step(&wanted)?;
            let end = match self.step(qualifier, &wanted, at, optional, bears) {
                Ok(Some(next)) => {
                    at = next;
                    continue;
                }
                Ok(None) if attribute.test => Ok(false.into()),
                Ok(None) => Ok(Val::Own(Value::NONE)),
                Err(halt) => Err(halt),
            };
            return self.ended(attribute, i + 1, end, undecided, scope);
        }
        undecided.end()?;
        Ok(match (attribute.test, optional) {
            (true, _) => true.into(),
            (false, true) => Val::Own(Value::some(at.own())),
            (false, false) => at,
        })
    }

    /// The walk ended before the qualifier `next`. That does not count where the attribute is undecided further on.
    fn ended<'s>(
        &mut self,
        attribute: &'s Attribute,
        next: usize,
        end: Outcome<'s>,
        mut undecided: Undecided<'_>,
        scope: &'s Scope<'s>,
    ) -> Outcome<'s>
    where
        'r: 's,
    {
        if matches!(&end, Err(halt) if halt.is_fatal()) {
            return end;
        }
        for qualifier in attribute.qualifiers.iter().skip(next) {
            if undecided.nothing() {
                break;
            }
            match &qualifier.key {
                QualifierKey::Field(key) => undecided.step(&Wanted::Field(key))?,
                QualifierKey::Const(key) => undecided.step(&Wanted::Value(key))?,
                QualifierKey::Node(node) => undecided.step(&Wanted::Value(self.key(node, true, scope)?.get()))?,
            }
        }
        undecided.end()?;
        end
    }

    /// A computed key.
    fn key<'s>(&mut self, node: &'s Node, optional: bool, scope: &'s Scope<'s>) -> Outcome<'s>
    where
        'r: 's,
    {
        let key = self.resolve(node, scope);
        match &key {
            Err(halt) if !optional && !halt.is_fatal() => self.context.charge(1)?,
            _ => {}
        }
        key
    }

    /// One step; nothing where it leads nowhere and that is borne.
    #[inline(never)]
    fn step<'s>(
        &mut self,
        qualifier: &Qualifier,
        wanted: &Wanted<'_>,
        from: Val<'s>,
        optional: bool,
        bears: Bears,
    ) -> Result<Option<Val<'s>>, Halt> {
        if let Wanted::Value(key) = wanted {
            self.context.spend(super::price::key_work(key))?;
        }
        let found = match &from {
            Val::Ref(value) => find(value, wanted).map(|found| found.map(Val::Ref)),
            Val::Own(value) => find(value, wanted).map(|found| found.map(|v| Val::Own(v.clone()))),
        };
        // In an optional chain only what is found is due.
        if !optional || matches!(found, Ok(Some(_))) {
            self.context.charge(1)?;
        }
        match found {
            Ok(Some(found)) => Ok(Some(found)),
            Ok(None) if bears.absence_in(from.get()) => Ok(None),
            Ok(None) => Err(self.missing(qualifier, from.get(), wanted)),
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
