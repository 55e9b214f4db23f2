//! From the syntax tree to the planned one: names, literals, constructors.
//!
//! What Kubernetes folds at plan time is folded, and nothing else (COST.md, A1): a constant costs nothing, so folding more
//! would change costs.
//!
//! Absent: attributes, calls and folds (the other `plan_` files).
use std::sync::Arc;

use super::node::{Element, Entry, Local, Node, Op, Which};
use crate::{
    ast::{self, Ast, Kind, Literal, MapEntry, NodeId, StructField},
    check::Reference,
    env::Env,
    eval::Halt,
    source::{Issue, Issues},
    types::Type,
    value::{Key, MapBuilder, Value},
};

pub(super) struct Planner<'a> {
    pub(super) env: &'a Env,
    pub(super) ast: &'a Ast,
    references: &'a [Option<Reference>],
    /// The variables of the folds around, outermost first.
    scopes: Vec<[Option<Arc<str>>; 3]>,
}

impl<'a> Planner<'a> {
    pub(super) fn new(env: &'a Env, ast: &'a Ast, references: &'a [Option<Reference>]) -> Self {
        Planner { env, ast, references, scopes: vec![] }
    }

    /// Plans a node. Recursion is bounded by the depth of the tree, and each arm is a function of its own, so that the frame of
    /// this one stays small.
    pub(super) fn expression(&mut self, id: NodeId) -> Result<Node, Issues> {
        let node = self.ast_node(id)?;
        let op = match &node.kind {
            Kind::Literal(literal) => Op::Const(literal_value(literal)),
            Kind::Ident(name) => self.ident(id, name),
            Kind::Select { .. } => return self.attribute(id),
            Kind::Call { function, target, args, .. } => return self.call(id, function, *target, args),
            Kind::List { elements } => self.list(elements)?,
            Kind::Map { entries } => self.map(entries)?,
            Kind::Struct { name, fields } => self.object(id, name, fields)?,
            Kind::Comprehension(fold) => self.fold(fold)?,
        };
        Ok(Node { id, op })
    }

    pub(super) fn ast_node(&self, id: NodeId) -> Result<&'a ast::Node, Issues> {
        // Upheld by the parser; an error for a tree that another made.
        self.ast.node(id).ok_or_else(|| Issues(vec![]))
    }

    pub(super) fn reference(&self, id: NodeId) -> Option<&'a Reference> {
        self.references.get(id.0 as usize)?.as_ref()
    }

    /// Whether the tree went through the checker.
    pub(super) fn checked(&self) -> bool {
        !self.references.is_empty()
    }

    pub(super) fn issue(&self, id: NodeId, message: impl Into<String>) -> Issues {
        let (span, at) = self.ast.node(id).map_or((Default::default(), None), |n| (n.span, Some(n.at)));
        Issues(vec![Issue { span, at, message: message.into(), help: None }])
    }

    pub(super) fn halt_issue(&self, id: NodeId, halt: &Halt) -> Issues {
        match halt {
            Halt::Error(e) => self.issue(id, e.message.clone()),
            Halt::Unknown(_) => self.issue(id, "a constant cannot be unknown"),
        }
    }

    pub(super) fn scoped<T>(&mut self, variables: [Option<Arc<str>>; 3], plan: impl FnOnce(&mut Self) -> T) -> T {
        self.scopes.push(variables);
        let planned = plan(self);
        self.scopes.pop();
        planned
    }

    fn ident(&mut self, id: NodeId, name: &Arc<str>) -> Op {
        if let Some(local) = self.local(name) {
            return Op::Local(local);
        }
        self.global(id, name).unwrap_or_else(|| Op::Undeclared(name.clone()))
    }

    pub(super) fn local(&self, name: &str) -> Option<Local> {
        for (up, scope) in self.scopes.iter().rev().enumerate() {
            let at = scope.iter().position(|v| v.as_deref() == Some(name));
            let which = match at {
                Some(0) => Which::First,
                Some(1) => Which::Second,
                Some(_) => Which::Accumulator,
                None => continue,
            };
            return Some(Local { up: u32::try_from(up).unwrap_or(u32::MAX), which });
        }
        None
    }

    /// A variable or constant by its possibly qualified name: what the checker found, else by the rules of containers.
    pub(super) fn global(&self, id: NodeId, name: &str) -> Option<Op> {
        match self.reference(id) {
            Some(Reference::Variable(name)) => return self.env.slot(name).map(Op::Variable),
            Some(Reference::Constant(value)) => return Some(Op::Const(value.clone())),
            Some(_) => return None,
            None if self.checked() => return None,
            None => {}
        }
        if let Some(absolute) = name.strip_prefix('.') {
            return self.declared(absolute);
        }
        let mut container = self.env.container();
        while !container.is_empty() {
            if let Some(op) = self.declared(&format!("{container}.{name}")) {
                return Some(op);
            }
            container = container.rsplit_once('.').map_or("", |(outer, _)| outer);
        }
        self.declared(name)
    }

    fn declared(&self, name: &str) -> Option<Op> {
        match self.env.slot(name) {
            Some(slot) => Some(Op::Variable(slot)),
            None => self.constant(name).map(Op::Const),
        }
    }

    fn constant(&self, name: &str) -> Option<Value> {
        match self.env.constant(name) {
            Some((_, value)) => Some(value.clone()),
            None => self.env.provider()?.named_type(name).map(|ty| Value::Type(Arc::new(ty))),
        }
    }

    #[inline(never)]
    fn list(&mut self, elements: &[(NodeId, bool)]) -> Result<Op, Issues> {
        let mut planned = Vec::with_capacity(elements.len());
        for (id, optional) in elements {
            planned.push(Element { value: self.expression(*id)?, optional: *optional });
        }
        let constants = planned.iter().map(|e| match &e.value.op {
            Op::Const(value) if !e.optional => Some(value.clone()),
            _ => None,
        });
        Ok(match constants.collect::<Option<Vec<Value>>>() {
            Some(values) => Op::Const(values.into()),
            None => Op::List(planned.into()),
        })
    }

    #[inline(never)]
    fn map(&mut self, entries: &[MapEntry]) -> Result<Op, Issues> {
        let mut planned = Vec::with_capacity(entries.len());
        for entry in entries {
            let key = self.expression(entry.key)?;
            planned.push(Entry { key, value: self.expression(entry.value)?, optional: entry.optional });
        }
        let unique = !self.env.options().lenient;
        Ok(constant_map(&planned, unique).unwrap_or_else(|| Op::Map { entries: planned.into(), unique }))
    }

    /// An object literal. Its value is a map, under the keys that the provider knows.
    #[inline(never)]
    fn object(&mut self, id: NodeId, name: &Arc<str>, fields: &[StructField]) -> Result<Op, Issues> {
        let object = match self.reference(id) {
            Some(Reference::Constant(Value::Type(ty))) => match &**ty {
                Type::Object(name) => Some(name.clone()),
                _ => None,
            },
            _ => self.object_type(name),
        };
        let object = object.ok_or_else(|| self.issue(id, format!("unknown type: {name}")))?;
        let mut planned = Vec::with_capacity(fields.len());
        for field in fields {
            let known = self.env.provider().and_then(|p| p.field(&object, &field.name));
            let Some(known) = known else {
                return Err(self.issue(field.value, format!("no such field '{}'", field.name)));
            };
            let key = Node { id: field.value, op: Op::Const(Value::String(known.key)) };
            planned.push(Entry { key, value: self.expression(field.value)?, optional: field.optional });
        }
        Ok(Op::Object(planned.into()))
    }

    fn object_type(&self, name: &str) -> Option<Arc<str>> {
        let provider = self.env.provider()?;
        let object = |name: &str| match provider.named_type(name) {
            Some(Type::Object(name)) => Some(name),
            _ => None,
        };
        if let Some(absolute) = name.strip_prefix('.') {
            return object(absolute);
        }
        let mut container = self.env.container();
        while !container.is_empty() {
            if let Some(found) = object(&format!("{container}.{name}")) {
                return Some(found);
            }
            container = container.rsplit_once('.').map_or("", |(outer, _)| outer);
        }
        object(name)
    }
}

/// The map, if all keys and values are constants; what is wrong with keys is left to evaluation, which says so.
fn constant_map(entries: &[Entry], unique: bool) -> Option<Op> {
    let mut map = MapBuilder::with_capacity(entries.len());
    for entry in entries {
        let repeated = match (&entry.key.op, &entry.value.op) {
            (Op::Const(key), Op::Const(value)) if !entry.optional => map.insert(Key::from_value(key)?, value.clone()),
            _ => return None,
        };
        if repeated.is_some() && unique {
            return None;
        }
    }
    Some(Op::Const(Value::Map(map.build())))
}

fn literal_value(literal: &Literal) -> Value {
    match literal {
        Literal::Null => Value::Null,
        Literal::Bool(b) => Value::Bool(*b),
        Literal::Int(i) => Value::Int(*i),
        Literal::Uint(u) => Value::Uint(*u),
        Literal::Double(d) => Value::Double(*d),
        Literal::String(s) => Value::String(s.clone()),
        Literal::Bytes(b) => Value::Bytes(b.clone()),
    }
}
