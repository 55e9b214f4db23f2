//! The walk over the tree: each node's type from its parts'.
//!
//! The walk keeps what is left to do on a stack of its own: trees are deeper than the thread's stack allows.
//! A node with two parents (see [`crate::Ast`]) is visited once.
//!
//! Absent: overloads (calls), names (names), the algebra of types (unify).
use std::sync::Arc;

use super::{
    Checker, Reference,
    unify::{Shape, Ty},
};
use crate::{
    ast::{Comprehension, Kind, Literal, NodeId},
    source::Span,
};

/// What is left to do.
pub(super) enum Task {
    /// Look at a node.
    Visit(NodeId),
    /// Give a node its type; its parts have theirs.
    Finish(NodeId),
    /// Declare a fold's variables; its range and first value have their types.
    Open(NodeId),
    /// The condition of a fold has its type.
    Condition(NodeId),
    /// The step of a fold has its type.
    Step(NodeId),
}

impl Checker<'_> {
    pub(super) fn walk(&mut self, root: NodeId) {
        self.tasks.push(Task::Visit(root));
        while let Some(task) = self.tasks.pop() {
            match task {
                Task::Visit(id) => self.visit(id),
                Task::Finish(id) => {
                    let ty = self.finish(id);
                    self.settle(id, ty);
                }
                Task::Open(id) => self.open(id),
                Task::Condition(id) => self.condition(id),
                Task::Step(id) => self.step(id),
            }
        }
    }

    pub(super) fn type_of(&self, id: NodeId) -> Ty {
        self.found.get(id.0 as usize).copied().flatten().unwrap_or(Ty::DYN)
    }

    pub(super) fn refer(&mut self, id: NodeId, reference: Reference) {
        if let Some(slot) = self.references.get_mut(id.0 as usize) {
            *slot = Some(reference);
        }
    }

    fn settle(&mut self, id: NodeId, ty: Ty) {
        if let Some(slot) = self.found.get_mut(id.0 as usize) {
            *slot = Some(ty);
        }
        if self.types.take_overflow() && !self.overflow_reported {
            self.overflow_reported = true;
            let message = "the type of the expression is too deep or too large to check".to_owned();
            self.report_at(id, message, Some("split the expression, or use dyn(...)".to_owned()));
        }
    }

    fn visit(&mut self, id: NodeId) {
        if self.found.get(id.0 as usize).is_none_or(Option::is_some) {
            return;
        }
        let ast = self.ast.clone();
        let Some(node) = ast.node(id) else { return };
        match &node.kind {
            Kind::Literal(literal) => self.settle(id, literal_type(literal)),
            Kind::Ident(name) => {
                let ty = match self.lookup(name) {
                    Some((ty, reference)) => {
                        reference.into_iter().for_each(|reference| self.refer(id, reference));
                        ty
                    }
                    None => {
                        let help = self.misnamed.get(&id).cloned().or_else(|| self.help_for_name(name, node.span));
                        self.undeclared(id, node.span, name, help);
                        Ty::ERROR
                    }
                };
                self.settle(id, ty);
            }
            Kind::Select { operand, test_only, .. } => {
                if !test_only && let Some((ty, reference)) = self.lookup_qualified(id) {
                    reference.into_iter().for_each(|reference| self.refer(id, reference));
                    return self.settle(id, ty);
                }
                self.tasks.extend([Task::Finish(id), Task::Visit(*operand)]);
            }
            Kind::Call { target: Some(target), function, args, .. } => {
                let prefix = self.qualified_name(*target);
                let qualified = prefix.map(|prefix| format!("{prefix}.{function}"));
                let found = qualified.and_then(|name| self.function(&name));
                self.tasks.push(Task::Finish(id));
                match found {
                    Some(found) => {
                        self.renamed.insert(id, found.name.clone());
                    }
                    None => {
                        if let Some(Kind::Ident(namespace)) = ast.node(*target).map(|node| &node.kind)
                            && self.lookup(namespace).is_none()
                            && let Some(help) = self.help_for_namespace(namespace, function)
                        {
                            self.misnamed.insert(*target, help);
                        }
                        self.tasks.push(Task::Visit(*target));
                    }
                }
                self.tasks.extend(args.iter().rev().map(|arg| Task::Visit(*arg)));
            }
            Kind::Comprehension(c) => {
                self.tasks.extend([Task::Open(id), Task::Visit(c.accu_init), Task::Visit(c.iter_range)]);
            }
            Kind::Struct { name, .. } => {
                let object = self.struct_type(id, name, Span { start: node.span.start, end: node.at });
                self.settle(id, object);
                if object == Ty::ERROR {
                    return;
                }
                self.tasks.push(Task::Finish(id));
                self.visit_children(&node.kind);
            }
            kind => {
                self.tasks.push(Task::Finish(id));
                self.visit_children(kind);
            }
        }
    }

    fn visit_children(&mut self, kind: &Kind) {
        let first = self.tasks.len();
        kind.for_each_child(|child| self.tasks.push(Task::Visit(child)));
        if let Some(new) = self.tasks.get_mut(first..) {
            new.reverse();
        }
    }

    fn finish(&mut self, id: NodeId) -> Ty {
        let ast = self.ast.clone();
        let Some(node) = ast.node(id) else { return Ty::ERROR };
        match &node.kind {
            Kind::Select { operand, field, test_only, field_span } => {
                let ty = self.field(id, *operand, field, *field_span, false);
                if *test_only { Ty::BOOL } else { ty }
            }
            Kind::Call { function, args, .. } if &**function == "_?._" => match args.as_slice() {
                [operand, key] => match ast.node(*key).map(|node| (&node.kind, node.span)) {
                    Some((Kind::Literal(Literal::String(field)), span)) => {
                        if self.references.get(id.0 as usize).is_some_and(Option::is_none) {
                            self.refer(id, Reference::Overloads(["select_optional_field"].into()));
                        }
                        self.field(id, *operand, field, span, true)
                    }
                    _ => Ty::ERROR,
                },
                _ => Ty::ERROR,
            },
            Kind::Call { .. } => self.call(id),
            Kind::List { elements } => {
                let mut joined = None;
                for (element, optional) in elements {
                    let ty = self.entry_type(*element, *optional);
                    joined = Some(self.join(joined, ty));
                }
                let element = joined.unwrap_or_else(|| self.types.fresh());
                self.types.list(element)
            }
            Kind::Map { entries } => {
                let (mut keys, mut values) = (None, None);
                for entry in entries {
                    keys = Some(self.join(keys, self.type_of(entry.key)));
                    let value = self.entry_type(entry.value, entry.optional);
                    values = Some(self.join(values, value));
                }
                let key = keys.unwrap_or_else(|| self.types.fresh());
                let value = values.unwrap_or_else(|| self.types.fresh());
                self.types.map(key, value)
            }
            Kind::Struct { fields, .. } => {
                let object = self.type_of(id);
                let Shape::Object(name) = self.types.shape(object).clone() else { return object };
                for field in fields {
                    let value = self.entry_type(field.value, field.optional);
                    let Some(known) = self.env.provider().and_then(|provider| provider.field(&name, &field.name))
                    else {
                        self.undefined_field(id, field.name_span, Some(field.at), &name, &field.name);
                        continue;
                    };
                    let expected = self.types.declared(&known.ty, &mut vec![]);
                    if !self.types.assignable(expected, value) {
                        let (expected, value) = (self.shown(expected), self.shown(value));
                        let message = format!(
                            "expected type of field '{}' is '{expected}' but provided type is '{value}'",
                            field.name
                        );
                        self.report(field.name_span, field.at, message, None);
                    }
                }
                object
            }
            Kind::Comprehension(c) => {
                self.leave(&c.accu_var);
                self.types.substitute(self.type_of(c.result), false)
            }
            Kind::Literal(_) | Kind::Ident(_) => self.type_of(id),
        }
    }

    /// The type of `operand.field`, or of `operand.?field`.
    fn field(&mut self, id: NodeId, operand: NodeId, field: &Arc<str>, span: Span, optional: bool) -> Ty {
        let of = self.types.substitute(self.type_of(operand), false);
        let (of, was_optional) = match *self.types.shape(of) {
            Shape::Optional(inner) => (inner, true),
            _ => (of, false),
        };
        let ty = match self.types.shape(of).clone() {
            Shape::Map(_, value) => value,
            Shape::Object(name) => self.object_field(id, &name, field, span),
            Shape::Opaque(name, params) if params.is_empty() => {
                self.report(span, self.place(id), format!("unexpected failed resolution of '{name}'"), None);
                Ty::ERROR
            }
            Shape::Var(_) => {
                self.types.assignable(Ty::DYN, of);
                Ty::DYN
            }
            Shape::Dyn | Shape::Error => Ty::DYN,
            other => {
                let message = format!("type '{}' does not support field selection", self.shown(of));
                let help = match other {
                    _ if matches!(&**field, "length" | "size" | "count") => Some("write `.size()`".to_owned()),
                    Shape::List(_) => Some(format!("take an element: `[0].{field}`; or all: `.map(x, x.{field})`")),
                    _ => None,
                };
                self.report(span, self.place(id), message, help);
                Ty::DYN
            }
        };
        let ty = self.types.substitute(ty, false);
        if optional || was_optional { self.types.optional(ty) } else { ty }
    }

    fn place(&self, id: NodeId) -> u32 {
        self.ast.node(id).map_or(0, |node| node.at)
    }

    fn object_field(&mut self, id: NodeId, object: &str, field: &str, span: Span) -> Ty {
        let provider = self.env.provider();
        let Some(known) = provider.and_then(|provider| provider.field(object, field)) else {
            let is_known =
                provider.is_some_and(|p| !p.field_names(object).is_empty() || p.named_type(object).is_some());
            if is_known {
                self.undefined_field(id, span, None, object, field);
            } else {
                self.report(span, self.place(id), format!("unexpected failed resolution of '{object}'"), None);
            }
            return Ty::ERROR;
        };
        self.refer(id, Reference::Field(known.key));
        self.types.declared(&known.ty, &mut vec![])
    }

    /// The object type that a struct literal makes.
    fn struct_type(&mut self, id: NodeId, name: &Arc<str>, name_span: Span) -> Ty {
        let Some((ty, reference)) = self.lookup(name) else {
            self.undeclared(id, name_span, name, None);
            return Ty::ERROR;
        };
        let Shape::Type(object) = *self.types.shape(ty) else {
            self.report_at(id, format!("'{name}' is not a type"), None);
            return Ty::ERROR;
        };
        let Shape::Object(full) = self.types.shape(object).clone() else {
            self.report_at(id, format!("'{name}' is not a message type"), None);
            return Ty::ERROR;
        };
        reference.into_iter().for_each(|reference| self.refer(id, reference));
        self.structs.push((id, full));
        object
    }

    /// The type of an element or a value; what `?` marks must be optional, and counts as what it holds.
    fn entry_type(&mut self, value: NodeId, optional: bool) -> Ty {
        let ty = self.type_of(value);
        if !optional {
            return ty;
        }
        let ty = self.types.substitute(ty, false);
        match *self.types.shape(ty) {
            Shape::Optional(inner) => inner,
            Shape::Dyn | Shape::Error => ty,
            _ => {
                let wanted = self.types.optional(ty);
                self.mismatch(value, wanted, ty);
                ty
            }
        }
    }

    /// The type of a literal's elements; mixed ones are `dyn` (see `homogeneous` for environments that forbid it).
    fn join(&mut self, before: Option<Ty>, ty: Ty) -> Ty {
        match before {
            None => ty,
            Some(before) if self.types.assignable(before, ty) => self.types.most_general(before, ty),
            Some(_) => Ty::DYN,
        }
    }

    fn fold(&self, id: NodeId) -> Option<Comprehension> {
        match &self.ast.node(id)?.kind {
            Kind::Comprehension(c) => Some(Comprehension::clone(c)),
            _ => None,
        }
    }

    fn enter(&mut self, name: &Arc<str>, ty: Ty) {
        self.locals.entry(name.clone()).or_default().push(ty);
    }

    fn leave(&mut self, name: &Arc<str>) {
        if let Some(types) = self.locals.get_mut(name) {
            types.pop();
        }
    }

    fn open(&mut self, id: NodeId) {
        let Some(c) = self.fold(id) else { return };
        let range = self.types.substitute(self.type_of(c.iter_range), false);
        let (one, two) = match *self.types.shape(range) {
            Shape::List(element) if c.iter_var2.is_some() => (Ty::INT, element),
            Shape::List(element) => (element, element),
            Shape::Map(key, value) => (key, value),
            Shape::Dyn | Shape::Error | Shape::Var(_) => {
                self.types.assignable(Ty::DYN, range);
                (Ty::DYN, Ty::DYN)
            }
            _ => {
                let shown = self.shown(range);
                let message = format!(
                    "expression of type '{shown}' cannot be range of a comprehension (must be list, map, or dynamic)"
                );
                self.report_at(c.iter_range, message, None);
                (Ty::ERROR, Ty::ERROR)
            }
        };
        let accumulator = self.type_of(c.accu_init);
        self.enter(&c.accu_var, accumulator);
        self.enter(&c.iter_var, one);
        if let Some(second) = &c.iter_var2 {
            self.enter(second, two);
        }
        self.tasks.extend([
            Task::Finish(id),
            Task::Visit(c.result),
            Task::Step(id),
            Task::Visit(c.loop_step),
            Task::Condition(id),
            Task::Visit(c.loop_condition),
        ]);
    }

    fn condition(&mut self, id: NodeId) {
        if let Some(c) = self.fold(id) {
            self.expect(c.loop_condition, Ty::BOOL);
        }
    }

    fn step(&mut self, id: NodeId) {
        let Some(c) = self.fold(id) else { return };
        let accumulator = self.type_of(c.accu_init);
        self.expect(c.loop_step, accumulator);
        self.leave(&c.iter_var);
        if let Some(second) = &c.iter_var2 {
            self.leave(second);
        }
    }

    fn expect(&mut self, id: NodeId, wanted: Ty) {
        let ty = self.type_of(id);
        if !self.types.assignable(wanted, ty) {
            self.mismatch(id, wanted, ty);
        }
    }
}

fn literal_type(literal: &Literal) -> Ty {
    match literal {
        Literal::Null => Ty::NULL,
        Literal::Bool(_) => Ty::BOOL,
        Literal::Int(_) => Ty::INT,
        Literal::Uint(_) => Ty::UINT,
        Literal::Double(_) => Ty::DOUBLE,
        Literal::String(_) => Ty::STRING,
        Literal::Bytes(_) => Ty::BYTES,
    }
}
