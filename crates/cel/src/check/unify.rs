//! Types while checking: interned, so that equality is one comparison and a deep type is stored once, with variables
//! for what is not known yet.
//!
//! Work and sizes are bounded: a chain of macros can double a type at each link, and variables can hide how deep one is.
//!
//! Absent: which types fit which (`assign`), expressions, messages.
use std::{collections::HashMap, sync::Arc};

use foldhash::fast::RandomState;

use crate::{
    limits::{MAX_TYPE_DEPTH, MAX_TYPE_SIZE},
    types::Type,
};

mod assign;

/// An interned type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Ty(u32);

/// A type's outermost layer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Shape {
    Dyn,
    Error,
    Null,
    Bool,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    Timestamp,
    Duration,
    Wrapper(Ty),
    List(Ty),
    Map(Ty, Ty),
    Optional(Ty),
    Type(Ty),
    Object(Arc<str>),
    Opaque(Arc<str>, Arc<[Ty]>),
    /// Not known yet, or known from `bindings`.
    Var(u32),
}

/// The simple types stand at fixed places.
const SIMPLE: [Shape; 11] = [
    Shape::Dyn,
    Shape::Error,
    Shape::Null,
    Shape::Bool,
    Shape::Int,
    Shape::Uint,
    Shape::Double,
    Shape::String,
    Shape::Bytes,
    Shape::Timestamp,
    Shape::Duration,
];

impl Ty {
    pub(super) const DYN: Ty = Ty(0);
    pub(super) const ERROR: Ty = Ty(1);
    pub(super) const NULL: Ty = Ty(2);
    pub(super) const BOOL: Ty = Ty(3);
    pub(super) const INT: Ty = Ty(4);
    pub(super) const UINT: Ty = Ty(5);
    pub(super) const DOUBLE: Ty = Ty(6);
    pub(super) const STRING: Ty = Ty(7);
    pub(super) const BYTES: Ty = Ty(8);
    const TIMESTAMP: Ty = Ty(9);
    const DURATION: Ty = Ty(10);

    pub(super) fn is_dyn_or_error(self) -> bool {
        matches!(self, Ty::DYN | Ty::ERROR)
    }
}

struct Entry {
    shape: Shape,
    vars: Vars,
    depth: usize,
    /// Parts when written out.
    size: usize,
    /// The finished form, made when first asked for.
    finished: Option<Type>,
}

/// Which variables are in a type. A deep type mostly has few, so that a look at them tells whether anything is known of it.
#[derive(Clone, Copy, Default)]
struct Vars {
    few: [u32; 3],
    /// How many they are; [`Vars::MANY`] if too many to be listed.
    count: u8,
}

impl Vars {
    const MANY: u8 = 4;

    fn one(var: u32) -> Vars {
        Vars { few: [var, 0, 0], count: 1 }
    }

    /// `None` if they are too many to be listed.
    fn few(&self) -> Option<&[u32]> {
        self.few.get(..usize::from(self.count))
    }

    fn add(&mut self, others: Vars) {
        let Some(list) = others.few() else {
            self.count = Vars::MANY;
            return;
        };
        for var in list {
            if self.few().is_none_or(|known| known.contains(var)) {
                continue;
            }
            if let Some(free) = self.few.get_mut(usize::from(self.count)) {
                *free = *var;
            }
            self.count += 1;
        }
    }
}

/// All types of one check.
pub(super) struct Types {
    entries: Vec<Entry>,
    index: HashMap<Shape, Ty, RandomState>,
    /// By variable.
    bindings: Vec<Option<Ty>>,
    /// What bindings were before, to undo a failed attempt.
    trail: Vec<(u32, Option<Ty>)>,
    /// Steps of comparing and substituting that are left.
    fuel: u32,
    /// A type grew beyond the limits, or the fuel is used up.
    overflowed: bool,
    /// What was there when a call began to be resolved.
    mark: Mark,
}

/// How many types and variables there are.
#[derive(Clone, Copy, Default)]
struct Mark {
    entries: usize,
    bindings: usize,
    /// Whether a variable from before stands for a type from after.
    escaped: bool,
}

/// Steps of work on types for one expression: 100 for each character of the longest one.
const FUEL: u32 = 10_000_000;

/// Parts of a type beyond which its substitution is remembered.
const WORTH_REMEMBERING: usize = 4;

/// Levels that comparing and substituting may descend: a type, and one more type that a variable in it stands for.
const MAX_DESCENT: usize = 2 * MAX_TYPE_DEPTH;

impl Types {
    pub(super) fn new() -> Types {
        let simple = |shape| Entry { shape, vars: Vars::default(), depth: 1, size: 1, finished: None };
        Types {
            entries: SIMPLE.into_iter().map(simple).collect(),
            index: HashMap::default(),
            bindings: vec![],
            trail: vec![],
            fuel: FUEL,
            overflowed: false,
            mark: Mark::default(),
        }
    }

    /// Begins to resolve a call.
    pub(super) fn mark(&mut self) {
        self.mark = Mark { entries: self.entries.len(), bindings: self.bindings.len(), escaped: false };
    }

    /// Forgets what the resolution of a call made, unless something of it is still needed: each overload's signature brings types
    /// of its own, which would make the types of a long expression of calls far larger than the expression.
    pub(super) fn release(&mut self, result: Ty) {
        let Mark { entries, bindings, escaped } = self.mark;
        if escaped || result.0 as usize >= entries {
            return;
        }
        for entry in self.entries.drain(entries..) {
            self.index.remove(&entry.shape);
        }
        self.bindings.truncate(bindings);
        self.trail.clear();
    }

    /// Whether a limit was met since the last call.
    pub(super) fn take_overflow(&mut self) -> bool {
        std::mem::take(&mut self.overflowed)
    }

    pub(super) fn shape(&self, ty: Ty) -> &Shape {
        self.entries.get(ty.0 as usize).map_or(&Shape::Dyn, |entry| &entry.shape)
    }

    /// INVARIANT (the callers'): simple shapes have their fixed places, and variables come from [`Types::fresh`].
    pub(super) fn intern(&mut self, shape: Shape) -> Ty {
        if let Some(ty) = self.index.get(&shape) {
            return *ty;
        }
        let (mut vars, mut depth, mut size) = (Vars::default(), 0, 0usize);
        let mut part = |ty: &Ty| {
            if let Some(entry) = self.entries.get(ty.0 as usize) {
                vars.add(entry.vars);
                depth = depth.max(entry.depth);
                size = size.saturating_add(entry.size);
            }
        };
        match &shape {
            Shape::Wrapper(ty) | Shape::List(ty) | Shape::Optional(ty) | Shape::Type(ty) => part(ty),
            Shape::Map(key, value) => [key, value].into_iter().for_each(part),
            Shape::Opaque(_, params) => params.iter().for_each(part),
            _ => {}
        }
        if depth >= MAX_TYPE_DEPTH || size >= MAX_TYPE_SIZE {
            self.overflowed = true;
            return Ty::ERROR;
        }
        let entry = Entry { shape: shape.clone(), vars, depth: depth + 1, size: size + 1, finished: None };
        let ty = self.add(entry);
        self.index.insert(shape, ty);
        ty
    }

    fn add(&mut self, entry: Entry) -> Ty {
        let ty = Ty(u32::try_from(self.entries.len()).unwrap_or(u32::MAX));
        self.entries.push(entry);
        ty
    }

    pub(super) fn list(&mut self, element: Ty) -> Ty {
        self.intern(Shape::List(element))
    }

    pub(super) fn map(&mut self, key: Ty, value: Ty) -> Ty {
        self.intern(Shape::Map(key, value))
    }

    pub(super) fn optional(&mut self, inner: Ty) -> Ty {
        self.intern(Shape::Optional(inner))
    }

    /// A variable that nothing is known of.
    pub(super) fn fresh(&mut self) -> Ty {
        let var = u32::try_from(self.bindings.len()).unwrap_or(u32::MAX);
        self.bindings.push(None);
        // There is no other of it to be found.
        self.add(Entry { shape: Shape::Var(var), vars: Vars::one(var), depth: 1, size: 1, finished: None })
    }

    /// A declared type; each of its parameters is one of `params`, to which new ones are added.
    pub(super) fn declared(&mut self, ty: &Type, params: &mut Vec<(Arc<str>, Ty)>) -> Ty {
        self.declared_at(ty, params, 0)
    }

    fn declared_at(&mut self, ty: &Type, params: &mut Vec<(Arc<str>, Ty)>, depth: usize) -> Ty {
        if depth > MAX_TYPE_DEPTH {
            self.overflowed = true;
            return Ty::ERROR;
        }
        let depth = depth + 1;
        let shape = match ty {
            Type::Dyn => return Ty::DYN,
            Type::Error => return Ty::ERROR,
            Type::Null => return Ty::NULL,
            Type::Bool => return Ty::BOOL,
            Type::Int => return Ty::INT,
            Type::Uint => return Ty::UINT,
            Type::Double => return Ty::DOUBLE,
            Type::String => return Ty::STRING,
            Type::Bytes => return Ty::BYTES,
            Type::Timestamp => return Ty::TIMESTAMP,
            Type::Duration => return Ty::DURATION,
            Type::Wrapper(inner) => Shape::Wrapper(self.declared_at(inner, params, depth)),
            Type::List(inner) => Shape::List(self.declared_at(inner, params, depth)),
            Type::Map(entry) => {
                let key = self.declared_at(&entry.0, params, depth);
                Shape::Map(key, self.declared_at(&entry.1, params, depth))
            }
            Type::Optional(inner) => Shape::Optional(self.declared_at(inner, params, depth)),
            Type::Type(inner) => Shape::Type(self.declared_at(inner, params, depth)),
            Type::Object(name) => Shape::Object(name.clone()),
            Type::Opaque(name, parameters) => {
                let parameters = parameters.iter().map(|ty| self.declared_at(ty, params, depth)).collect();
                Shape::Opaque(name.clone(), parameters)
            }
            Type::Param(name) => {
                if let Some((_, known)) = params.iter().find(|(known, _)| known == name) {
                    return *known;
                }
                let new = self.fresh();
                params.push((name.clone(), new));
                return new;
            }
        };
        self.intern(shape)
    }

    /// `ty` with what is known of its variables put in; unknown ones stay, or become `dyn`.
    pub(super) fn substitute(&mut self, ty: Ty, unknown_to_dyn: bool) -> Ty {
        if self.is_settled(ty, unknown_to_dyn) {
            return ty;
        }
        self.substitute_at(ty, unknown_to_dyn, &mut HashMap::default(), 0)
    }

    /// Whether values of the two cannot be of one type, by the outermost layers alone.
    pub(super) fn are_apart(&self, ty: Ty, declared: &Type) -> bool {
        let (Some(one), Some(two)) = (layer(self.shape(ty)), declared_layer(declared)) else { return false };
        one != two
    }

    /// Whether there is no variable in `ty`.
    pub(super) fn is_known(&self, ty: Ty) -> bool {
        self.vars(ty).few().is_some_and(<[u32]>::is_empty)
    }

    fn vars(&self, ty: Ty) -> Vars {
        self.entries.get(ty.0 as usize).map(|entry| entry.vars).unwrap_or_default()
    }

    /// Whether there is nothing to put in for variables of `ty`.
    fn is_settled(&self, ty: Ty, to_dyn: bool) -> bool {
        match self.vars(ty).few() {
            Some([]) => true,
            Some(vars) => !to_dyn && vars.iter().all(|var| self.binding(*var).is_none()),
            None => false,
        }
    }

    fn substitute_at(&mut self, ty: Ty, to_dyn: bool, done: &mut HashMap<Ty, Ty, RandomState>, depth: usize) -> Ty {
        if self.is_settled(ty, to_dyn) {
            return ty;
        }
        if let Some(known) = done.get(&ty) {
            return *known;
        }
        if !self.step(depth) {
            return Ty::ERROR;
        }
        let depth = depth + 1;
        let result = match self.shape(ty).clone() {
            Shape::Var(var) => match self.binding(var) {
                Some(bound) => self.substitute_at(bound, to_dyn, done, depth),
                None if to_dyn => Ty::DYN,
                None => ty,
            },
            Shape::Wrapper(inner) => {
                let inner = self.substitute_at(inner, to_dyn, done, depth);
                self.intern(Shape::Wrapper(inner))
            }
            Shape::List(inner) => {
                let inner = self.substitute_at(inner, to_dyn, done, depth);
                self.list(inner)
            }
            Shape::Optional(inner) => {
                let inner = self.substitute_at(inner, to_dyn, done, depth);
                self.optional(inner)
            }
            Shape::Type(inner) => {
                let inner = self.substitute_at(inner, to_dyn, done, depth);
                self.intern(Shape::Type(inner))
            }
            Shape::Map(key, value) => {
                let key = self.substitute_at(key, to_dyn, done, depth);
                let value = self.substitute_at(value, to_dyn, done, depth);
                self.map(key, value)
            }
            Shape::Opaque(name, params) => {
                let params = params.iter().map(|param| self.substitute_at(*param, to_dyn, done, depth)).collect();
                self.intern(Shape::Opaque(name, params))
            }
            _ => ty,
        };
        // Small ones are as quickly done again.
        if self.entries.get(ty.0 as usize).is_some_and(|entry| entry.size > WORTH_REMEMBERING) {
            done.insert(ty, result);
        }
        result
    }

    fn binding(&self, var: u32) -> Option<Ty> {
        self.bindings.get(var as usize).copied().flatten()
    }

    /// One step of work at `depth`; false when there is no more to be had.
    fn step(&mut self, depth: usize) -> bool {
        if self.fuel == 0 || depth > MAX_DESCENT {
            self.overflowed = true;
            return false;
        }
        self.fuel -= 1;
        true
    }

    /// The finished type: unknown variables are `dyn`. Types share their parts.
    pub(super) fn finish(&mut self, ty: Ty) -> Type {
        let ty = self.substitute(ty, true);
        self.finished(ty)
    }

    /// The finished types of all nodes, when nothing more is to be learned of variables: each type is looked at once.
    pub(super) fn finish_all(mut self, types: Vec<Option<Ty>>) -> Vec<Type> {
        let mut done = HashMap::default();
        let finish = |ty: Option<Ty>| {
            let ty = self.substitute_at(ty.unwrap_or(Ty::DYN), true, &mut done, 0);
            self.finished(ty)
        };
        types.into_iter().map(finish).collect()
    }

    /// Of a type without variables; its depth is bounded by [`MAX_TYPE_DEPTH`].
    fn finished(&mut self, ty: Ty) -> Type {
        if let Some(finished) = self.entries.get(ty.0 as usize).and_then(|entry| entry.finished.clone()) {
            return finished;
        }
        let finished = match self.shape(ty).clone() {
            Shape::Dyn | Shape::Var(_) => Type::Dyn,
            Shape::Error => Type::Error,
            Shape::Null => Type::Null,
            Shape::Bool => Type::Bool,
            Shape::Int => Type::Int,
            Shape::Uint => Type::Uint,
            Shape::Double => Type::Double,
            Shape::String => Type::String,
            Shape::Bytes => Type::Bytes,
            Shape::Timestamp => Type::Timestamp,
            Shape::Duration => Type::Duration,
            Shape::Wrapper(inner) => Type::Wrapper(self.finished(inner).into()),
            Shape::List(inner) => Type::list(self.finished(inner)),
            Shape::Map(key, value) => {
                let key = self.finished(key);
                Type::map(key, self.finished(value))
            }
            Shape::Optional(inner) => Type::optional(self.finished(inner)),
            Shape::Type(inner) => Type::type_of(self.finished(inner)),
            Shape::Object(name) => Type::Object(name),
            Shape::Opaque(name, params) => {
                let params: Vec<Type> = params.iter().map(|param| self.finished(*param)).collect();
                Type::Opaque(name, params.into())
            }
        };
        if let Some(entry) = self.entries.get_mut(ty.0 as usize) {
            entry.finished = Some(finished.clone());
        }
        finished
    }
}

/// A number for the outermost layer of a type that fits only types of that layer.
fn layer(shape: &Shape) -> Option<u8> {
    Some(match shape {
        Shape::Dyn | Shape::Error | Shape::Null | Shape::Wrapper(_) | Shape::Var(_) => return None,
        Shape::Bool => 0,
        Shape::Int => 1,
        Shape::Uint => 2,
        Shape::Double => 3,
        Shape::String => 4,
        Shape::Bytes => 5,
        Shape::Timestamp => 6,
        Shape::Duration => 7,
        Shape::List(_) => 8,
        Shape::Map(..) => 9,
        Shape::Optional(_) => 10,
        Shape::Type(_) => 11,
        Shape::Object(_) => 12,
        Shape::Opaque(..) => 13,
    })
}

fn declared_layer(ty: &Type) -> Option<u8> {
    Some(match ty {
        Type::Dyn | Type::Error | Type::Null | Type::Wrapper(_) | Type::Param(_) => return None,
        Type::Bool => 0,
        Type::Int => 1,
        Type::Uint => 2,
        Type::Double => 3,
        Type::String => 4,
        Type::Bytes => 5,
        Type::Timestamp => 6,
        Type::Duration => 7,
        Type::List(_) => 8,
        Type::Map(_) => 9,
        Type::Optional(_) => 10,
        Type::Type(_) => 11,
        Type::Object(_) => 12,
        Type::Opaque(..) => 13,
    })
}
