//! The walk: each node's cost, size, place and entries, in upstream's order, since what a name means depends on the scope in
//! which it is looked up.
//!
//! A tree is deep, and a node may have two parents (see [`crate::ast::Ast`]): an explicit stack, and each node once.
//!
//! Absent: calls (call).
use std::collections::HashMap;

use super::{
    Bounds, Declaration, Declared, Estimate, Limits, Sizes,
    sizes::{Place, Step},
};
use crate::{
    Checked, Env, Type,
    ast::{Ast, Comprehension, Kind, Literal, NodeId},
    check::Reference,
    macros::ACCUMULATOR,
};

/// A list literal, besides its elements.
const LIST: Bounds = Bounds::exactly(10);
/// A map literal, besides its entries.
const MAP: Bounds = Bounds::exactly(30);
/// An object literal, besides its fields.
const OBJECT: Bounds = Bounds::exactly(40);

/// Characters of a number, time or truth value as text, at most: a timestamp with nanoseconds and an offset has 35.
const SCALAR_TEXT: u64 = 35;

/// What is known of what is in a list or map.
#[derive(Clone, Copy)]
pub(super) struct Entries {
    list: bool,
    keys: Bounds,
    pub(super) values: Bounds,
}

impl Entries {
    /// Of either of two.
    pub(super) fn union(self, other: Entries) -> Entries {
        Entries { keys: self.keys.union(other.keys), values: self.values.union(other.values), ..self }
    }
}

/// A local variable.
#[derive(Clone, Copy)]
struct Local<'a> {
    place: Place<'a>,
    size: Option<Bounds>,
    entries: Option<Entries>,
}

/// What is known of a node.
#[derive(Clone, Copy)]
struct Known<'a> {
    /// None before the node is done.
    cost: Option<Bounds>,
    size: Option<Bounds>,
    entries: Option<Entries>,
    place: Place<'a>,
}

enum Task {
    Enter(NodeId),
    /// Its children are done.
    Leave(NodeId),
    /// A fold's range and first value are done.
    Round(NodeId),
    /// A fold's condition and step are done.
    Result(NodeId),
}

pub(super) struct Walk<'a> {
    pub(super) checked: &'a Checked,
    pub(super) env: &'a Env,
    pub(super) sizes: &'a dyn Sizes,
    ast: &'a Ast,
    /// By node id.
    known: Vec<Known<'a>>,
    /// The innermost last.
    locals: HashMap<&'a str, Vec<Local<'a>>>,
    /// By address: a schema may have to add up all its fields to say it.
    maximums: HashMap<(*const (), bool), u64>,
    tasks: Vec<Task>,
}

pub(super) fn estimate(checked: &Checked, env: &Env, sizes: &dyn Sizes) -> Estimate {
    let ast: &Ast = checked.ast();
    let unknown = Known { cost: None, size: None, entries: None, place: Place::Nameless };
    let known = vec![unknown; ast.nodes().len()];
    let (locals, maximums) = (HashMap::new(), HashMap::new());
    let mut walk = Walk { checked, env, sizes, ast, known, locals, maximums, tasks: vec![Task::Enter(ast.root())] };
    while let Some(task) = walk.tasks.pop() {
        match task {
            Task::Enter(id) => walk.enter(id),
            Task::Leave(id) => walk.leave(id),
            Task::Round(id) => walk.round(id),
            Task::Result(id) => walk.result(id),
        }
    }
    let root = ast.root();
    let size = walk.size(root);
    let elements =
        walk.entries(root).map(|entries| entries.values).or_else(|| walk.size_at(walk.step(root, Step::Element)));
    Estimate { cost: walk.cost(root), size, elements }
}

impl<'a> Walk<'a> {
    fn enter(&mut self, id: NodeId) {
        let Some(node) = self.ast.node(id) else { return };
        if self.known.get(id.0 as usize).is_some_and(|known| known.cost.is_some()) {
            return;
        }
        match &node.kind {
            Kind::Literal(_) => self.done(id, Bounds::exactly(0)),
            Kind::Ident(name) => self.name(id, name),
            Kind::Select { .. } if self.checked.reference(id).is_some_and(is_name) => self.name(id, ""),
            Kind::Comprehension(fold) => {
                let next = if is_bind(self.ast, fold) { Task::Result(id) } else { Task::Round(id) };
                self.tasks.extend([next, Task::Enter(fold.accu_init), Task::Enter(fold.iter_range)]);
            }
            kind => {
                self.tasks.push(Task::Leave(id));
                kind.for_each_child(|child| self.tasks.push(Task::Enter(child)));
            }
        }
    }

    fn name(&mut self, id: NodeId, name: &str) {
        let place = match self.checked.reference(id) {
            Some(Reference::Variable(full)) => Place::of(self.sizes.variable(full)),
            _ => match self.local(id) {
                Some(local) => local.place,
                None => Place::of(self.sizes.variable(name)),
            },
        };
        self.place_at(id, place);
        self.done(id, Bounds::exactly(1));
    }

    fn leave(&mut self, id: NodeId) {
        let Some(node) = self.ast.node(id) else { return };
        let cost = match &node.kind {
            Kind::Literal(_) | Kind::Ident(_) => return,
            Kind::Select { operand, test_only: true, .. } => self.cost(*operand),
            Kind::Select { operand, field, .. } => {
                let has_fields = matches!(
                    self.checked.type_of(*operand),
                    Some(Type::Map(_) | Type::Object(_) | Type::Opaque(..) | Type::Param(_))
                );
                self.place_at(id, self.step(*operand, Step::Field(field)));
                self.cost(*operand) + Bounds::exactly(u64::from(has_fields))
            }
            Kind::Call { .. } => self.call(id),
            Kind::List { elements } => {
                let elements = elements.iter().map(|(element, _)| *element);
                let values = self.union_of(elements.clone());
                self.entries_are(id, Entries { list: true, keys: Bounds::exactly(1), values });
                self.sum(elements) + LIST
            }
            Kind::Map { entries } => {
                let (keys, values) = (entries.iter().map(|entry| entry.key), entries.iter().map(|entry| entry.value));
                let known =
                    Entries { list: false, keys: self.union_of(keys.clone()), values: self.union_of(values.clone()) };
                self.entries_are(id, known);
                self.sum(keys) + self.sum(values) + MAP
            }
            Kind::Struct { fields, .. } => self.sum(fields.iter().map(|field| field.value)) + OBJECT,
            Kind::Comprehension(fold) => {
                self.pop(&fold.accu_var);
                if is_bind(self.ast, fold) { self.bound(id, fold) } else { self.folded(id, fold) }
            }
        };
        self.done(id, cost);
    }

    fn round(&mut self, id: NodeId) {
        let Some(Kind::Comprehension(fold)) = self.ast.node(id).map(|node| &node.kind) else { return };
        self.push_node(&fold.accu_var, fold.accu_init);
        let range = fold.iter_range;
        let entries = self.entries(range);
        let list =
            entries.map_or_else(|| matches!(self.checked.type_of(range), Some(Type::List(_))), |entries| entries.list);
        let (keys, values) = (entries.map(|entries| entries.keys), entries.map(|entries| entries.values));
        let element = Local { place: self.step(range, Step::Element), size: values, entries: None };
        let key = Local { place: self.step(range, Step::Key), size: keys, entries: None };
        match &fold.iter_var2 {
            Some(second) => {
                let index = if list { Local { place: self.step(range, Step::Index), ..key } } else { key };
                self.push(&fold.iter_var, index);
                self.push(second, element);
            }
            None => self.push(&fold.iter_var, if list { element } else { key }),
        }
        self.tasks.extend([Task::Result(id), Task::Enter(fold.loop_step), Task::Enter(fold.loop_condition)]);
    }

    fn result(&mut self, id: NodeId) {
        let Some(Kind::Comprehension(fold)) = self.ast.node(id).map(|node| &node.kind) else { return };
        if is_bind(self.ast, fold) {
            self.push_node(&fold.accu_var, fold.accu_init);
        } else {
            self.pop(&fold.iter_var);
            if let Some(second) = &fold.iter_var2 {
                self.pop(second);
            }
        }
        self.tasks.extend([Task::Leave(id), Task::Enter(fold.result)]);
    }

    fn bound(&mut self, id: NodeId, fold: &Comprehension) -> Bounds {
        if let Some(size) = self.size(fold.result) {
            self.size_is(id, size);
        }
        if let Some(entries) = self.entries(fold.result) {
            self.entries_are(id, entries);
        }
        self.sum([fold.iter_range, fold.accu_init, fold.result])
    }

    fn folded(&mut self, id: NodeId, fold: &Comprehension) -> Bounds {
        let rounds = self.size_or_unknown(fold.iter_range);
        match self.ast.node(fold.accu_init).map(|node| &node.kind) {
            Some(Kind::Literal(_)) => {
                let size = self.size_or_unknown(fold.accu_init);
                self.size_is(id, size);
            }
            Some(Kind::List { .. } | Kind::Map { .. }) => {
                self.size_is(id, rounds);
                if let Some(entries) = self.entries(fold.loop_step) {
                    self.entries_are(id, entries);
                }
            }
            _ => {}
        }
        let round = self.sum([fold.loop_condition, fold.loop_step]);
        self.sum([fold.iter_range, fold.accu_init, fold.result]) + rounds * round
    }

    // What is known of nodes.

    pub(super) fn cost(&self, id: NodeId) -> Bounds {
        self.known.get(id.0 as usize).and_then(|known| known.cost).unwrap_or(Bounds::exactly(0))
    }

    pub(super) fn sum(&self, ids: impl IntoIterator<Item = NodeId>) -> Bounds {
        ids.into_iter().fold(Bounds::exactly(0), |sum, id| sum + self.cost(id))
    }

    /// The size of either of them; 0 of nothing.
    fn union_of(&mut self, ids: impl Iterator<Item = NodeId>) -> Bounds {
        let union = ids.map(|id| self.size_or_unknown(id)).reduce(Bounds::union);
        union.unwrap_or(Bounds::exactly(0))
    }

    fn done(&mut self, id: NodeId, cost: Bounds) {
        if let Some(known) = self.known.get_mut(id.0 as usize) {
            known.cost = Some(cost);
        }
    }

    pub(super) fn size_is(&mut self, id: NodeId, size: Bounds) {
        if let Some(known) = self.known.get_mut(id.0 as usize) {
            known.size = Some(size);
        }
    }

    pub(super) fn entries_are(&mut self, id: NodeId, entries: Entries) {
        if let Some(known) = self.known.get_mut(id.0 as usize) {
            known.entries = Some(entries);
        }
    }

    pub(super) fn place_at(&mut self, id: NodeId, place: Place<'a>) {
        if let Some(known) = self.known.get_mut(id.0 as usize) {
            known.place = place;
        }
    }

    /// In upstream's order: what was recorded, literals, the schema, scalars, local variables (COST, B2).
    pub(super) fn size(&mut self, id: NodeId) -> Option<Bounds> {
        if let Some(size) = self.known.get(id.0 as usize).and_then(|known| known.size) {
            return Some(size);
        }
        let size = match &self.ast.node(id)?.kind {
            Kind::Literal(literal) => Some(literal_size(literal)),
            Kind::List { elements } => Some(elements.len() as u64),
            Kind::Map { entries } => Some(entries.len() as u64),
            _ => None,
        };
        if let Some(size) = size {
            self.size_is(id, Bounds::exactly(size));
            return Some(Bounds::exactly(size));
        }
        if let Some(size) = self.size_at(self.place(id)) {
            self.size_is(id, size);
            return Some(size);
        }
        if self.checked.type_of(id).is_some_and(is_scalar) {
            return Some(Bounds::exactly(1));
        }
        if self.sizes.is_precise() && self.is_scalar_as_text(id) {
            return Some(Bounds::new(0, SCALAR_TEXT));
        }
        self.local(id)?.size
    }

    /// `string(1)`
    fn is_scalar_as_text(&self, id: NodeId) -> bool {
        match self.ast.node(id).map(|node| &node.kind) {
            Some(Kind::Call { target: None, function, args, .. }) if &**function == "string" => {
                args.iter().all(|arg| self.checked.type_of(*arg).is_some_and(is_scalar))
            }
            _ => false,
        }
    }

    pub(super) fn size_or_unknown(&mut self, id: NodeId) -> Bounds {
        self.size(id).unwrap_or(Bounds::UNKNOWN)
    }

    pub(super) fn size_at(&mut self, place: Place<'a>) -> Option<Bounds> {
        let Place::At(Declaration { schema, limits }) = place else { return None };
        let address: *const dyn Declared = schema;
        let key = (address.cast(), limits == Limits::Usual);
        let max = *self.maximums.entry(key).or_insert_with(|| schema.max_elements(limits));
        Some(Bounds::new(0, max))
    }

    pub(super) fn entries(&self, id: NodeId) -> Option<Entries> {
        let recorded = self.known.get(id.0 as usize).and_then(|known| known.entries);
        recorded.or_else(|| self.local(id)?.entries)
    }

    pub(super) fn place(&self, id: NodeId) -> Place<'a> {
        let place = match self.local(id) {
            Some(local) => local.place,
            None => self.known.get(id.0 as usize).map_or(Place::Nameless, |known| known.place),
        };
        match place {
            Place::At(_) => place,
            Place::Nameless | Place::Undeclared => self.typed(id).map_or(place, Place::At),
        }
    }

    /// Where a value without a path is declared, if its type or that of what it is a field of tells. Optional fields have no path
    /// in Kubernetes.
    fn typed(&self, id: NodeId) -> Option<Declaration<'a>> {
        let object = |id: NodeId| match self.checked.type_of(id)? {
            Type::Object(name) => self.sizes.object(name),
            Type::Optional(inner) => match &**inner {
                Type::Object(name) => self.sizes.object(name),
                _ => None,
            },
            _ => None,
        };
        let mut id = id;
        loop {
            if let Some(declared) = object(id) {
                return Some(declared);
            }
            match &self.ast.node(id)?.kind {
                Kind::Select { operand, field, .. } => return object(*operand)?.field(field),
                Kind::Call { target: None, function, args, .. } if &**function == "_?._" => {
                    let &[operand, field] = args.as_slice() else { return None };
                    let Kind::Literal(Literal::String(field)) = &self.ast.node(field)?.kind else { return None };
                    return object(operand)?.field(field);
                }
                // What is in an optional has its place, and most defaults are small.
                Kind::Call { target: Some(target), function, .. } if matches!(&**function, "value" | "orValue") => {
                    id = *target;
                }
                _ => return None,
            }
        }
    }

    /// One step on from a node's place.
    pub(super) fn step(&self, id: NodeId, step: Step<'_>) -> Place<'a> {
        self.place(id).step(step, self.sizes)
    }

    // Scopes.

    /// What an identifier stands for, if it is a local variable.
    fn local(&self, id: NodeId) -> Option<Local<'a>> {
        match &self.ast.node(id)?.kind {
            Kind::Ident(name) if self.checked.reference(id).is_none() => self.locals.get(&**name)?.last().copied(),
            _ => None,
        }
    }

    fn push(&mut self, name: &'a str, local: Local<'a>) {
        self.locals.entry(name).or_default().push(local);
    }

    fn push_node(&mut self, name: &'a str, id: NodeId) {
        let local = Local { place: self.place(id), size: self.size(id), entries: self.entries(id) };
        self.push(name, local);
    }

    fn pop(&mut self, name: &str) {
        self.locals.get_mut(name).map(Vec::pop);
    }
}

/// Whether a chain of selects is a name.
fn is_name(reference: &Reference) -> bool {
    matches!(reference, Reference::Variable(_) | Reference::Constant(_))
}

/// A fold over nothing, which gives a value a name: `cel.bind`, `optMap`, `sortBy`.
fn is_bind(ast: &Ast, fold: &Comprehension) -> bool {
    let kind = |id| ast.node(id).map(|node| &node.kind);
    matches!(kind(fold.iter_range), Some(Kind::List { elements }) if elements.is_empty())
        && matches!(kind(fold.loop_condition), Some(Kind::Literal(Literal::Bool(false))))
        && &*fold.accu_var != ACCUMULATOR
}

fn literal_size(literal: &Literal) -> u64 {
    match literal {
        Literal::String(text) => text.chars().count() as u64,
        Literal::Bytes(bytes) => bytes.len() as u64,
        Literal::Null | Literal::Bool(_) | Literal::Int(_) | Literal::Uint(_) | Literal::Double(_) => 1,
    }
}

fn is_scalar(ty: &Type) -> bool {
    let mut ty = ty;
    while let Type::Optional(inner) | Type::Wrapper(inner) = ty {
        ty = inner;
    }
    matches!(ty, Type::Bool | Type::Int | Type::Uint | Type::Double | Type::Timestamp | Type::Duration)
}
