//! From the syntax tree to the planned one: names, literals, constructors.
//!
//! What Kubernetes folds at plan time is folded, and nothing else (COST.md, A1): a constant costs nothing, so folding more
//! would change costs.
//!
//! Absent: attributes, calls and folds (the other `plan_` files).
use std::sync::Arc;

use super::{
    node::{BinaryOp, Bind, Candidate, Conditional, Element, Entry, Fit, Fold, Local, Node, Op, Target, Which},
    plan_attribute::AttributePlan,
    plan_call::fit,
    plan_fold::Shape,
};
use crate::{
    ast::{self, Ast, Kind, Literal, NodeId, StructField},
    check::Reference,
    env::{Env, Table},
    eval::Halt,
    library::Effort,
    source::{Issue, Issues},
    types::Type,
    value::{Key, MapBuilder, Value},
};

pub(super) struct Planner<'a> {
    /// What constant arguments may still cost to prepare.
    pub(super) effort: Effort,
    pub(super) env: &'a Env,
    pub(super) ast: &'a Ast,
    references: &'a [Option<Reference>],
    /// The variables of the folds around, outermost first.
    scopes: Vec<Variables>,
    /// What is to be done, last first.
    tasks: Vec<Task>,
    /// Planned nodes that wait for their parents.
    planned: Vec<Node>,
    /// The nodes with two parents (`optMap` uses its receiver twice), and their places once planned: planning them twice would
    /// double the program at each link of a chain.
    shared: Table<NodeId, Option<usize>>,
    /// How many places there are.
    memory: usize,
    /// What was made of the overloads of other calls.
    pub(super) candidates: Table<Arc<[&'static str]>, Arc<[Candidate]>>,
}

/// The variables of a fold: of iteration, and the accumulator.
pub(super) type Variables = [Option<Arc<str>>; 3];

/// Planning is a list of tasks and not recursion, so that it takes no stack however deep the tree.
pub(super) enum Task {
    Plan(NodeId),
    Enter(Variables),
    Leave,
    /// Gives the shared node just planned its place.
    Remember(NodeId),
    /// Makes a node of the planned ones that its parts became.
    Build(NodeId, Build),
}

/// How a node is made of its parts.
pub(super) enum Build {
    /// Of elements.
    List(Box<[bool]>),
    /// Of keys and values.
    Map(Box<[bool]>),
    /// Of values.
    Object(Box<[(Arc<str>, bool, Fit)]>),
    /// Of the root, unless it is a name, and the keys.
    Attribute(Box<AttributePlan>),
    Logic {
        operands: usize,
        decisive: bool,
    },
    Conditional,
    NotStrictlyFalse,
    Or {
        unwrap: bool,
    },
    Binary(BinaryOp, Box<Target>),
    /// Of the arguments.
    Function {
        target: Box<Target>,
        arguments: usize,
        member: bool,
    },
    /// Of the range and the shape's parts.
    Loop {
        two: bool,
        shape: Box<Shape>,
    },
    /// Of range, init, condition, step, result.
    Fold {
        two: bool,
    },
    /// Of init and body.
    Bind,
}

impl<'a> Planner<'a> {
    pub(super) fn new(env: &'a Env, ast: &'a Ast, references: &'a [Option<Reference>]) -> Self {
        let shared = shared(ast);
        Planner {
            env,
            ast,
            references,
            scopes: vec![],
            tasks: vec![],
            planned: vec![],
            shared,
            memory: 0,
            effort: Effort::default(),
            candidates: Table::default(),
        }
    }

    /// Plans a node and all below it; and how many places of memory it needs.
    pub(super) fn expression(mut self, id: NodeId) -> Result<(Node, usize), Issues> {
        self.tasks.push(Task::Plan(id));
        while let Some(task) = self.tasks.pop() {
            match task {
                Task::Plan(id) => self.visit(id)?,
                Task::Enter(variables) => self.scopes.push(variables),
                Task::Leave => drop(self.scopes.pop()),
                Task::Remember(id) => self.remember(id)?,
                Task::Build(id, build) => {
                    let op = self.build(id, build)?;
                    self.done(id, op);
                }
            }
        }
        Ok((self.take_one()?, self.memory))
    }

    fn remember(&mut self, id: NodeId) -> Result<(), Issues> {
        let node = self.take_one()?;
        if matches!(node.op, Op::Const(_)) {
            self.planned.push(node);
            return Ok(());
        }
        let place = self.memory;
        self.memory += 1;
        self.shared.insert(id, Some(place));
        self.done(id, Op::Once(Box::new((place, node))));
        Ok(())
    }

    /// Plans a leaf, or sets the tasks for a node's parts.
    fn visit(&mut self, id: NodeId) -> Result<(), Issues> {
        let node = self.ast_node(id)?;
        match self.shared.get(&id) {
            Some(Some(place)) => {
                let again = Op::Again(*place);
                self.done(id, again);
                return Ok(());
            }
            Some(None) => self.tasks.push(Task::Remember(id)),
            None => {}
        }
        match &node.kind {
            Kind::Literal(literal) => self.done(id, Op::Const(literal_value(literal))),
            Kind::Ident(name) => {
                let op = self.ident(id, name);
                self.done(id, op);
            }
            Kind::Select { .. } => self.visit_attribute(id)?,
            Kind::Call { function, target, args, .. } => self.visit_call(id, function, *target, args)?,
            Kind::List { elements } => {
                let optional = elements.iter().map(|(_, optional)| *optional).collect();
                self.parts(id, Build::List(optional), elements.iter().map(|(element, _)| *element));
            }
            Kind::Map { entries } => {
                let optional = entries.iter().map(|entry| entry.optional).collect();
                self.parts(id, Build::Map(optional), entries.iter().flat_map(|entry| [entry.key, entry.value]));
            }
            Kind::Struct { name, fields } => self.visit_object(id, name, fields)?,
            Kind::Comprehension(fold) => self.visit_fold(id, fold),
        }
        Ok(())
    }

    fn build(&mut self, id: NodeId, build: Build) -> Result<Op, Issues> {
        Ok(match build {
            Build::List(optional) => self.list(&optional)?,
            Build::Map(optional) => self.map(&optional)?,
            Build::Object(fields) => self.object(id, fields)?,
            Build::Attribute(plan) => self.attribute(*plan)?,
            Build::Logic { operands, decisive } => Op::Logic { operands: self.take(operands)?.into(), decisive },
            Build::Conditional => {
                let [condition, yes, no] = self.take_array()?;
                Op::Conditional(Box::new(Conditional { condition, yes, no }))
            }
            Build::NotStrictlyFalse => Op::NotStrictlyFalse(Box::new(self.take_one()?)),
            Build::Or { unwrap } => {
                let [first, second] = self.take_array()?;
                Op::Or { operands: Box::new((first, second)), unwrap }
            }
            Build::Binary(op, target) => self.binary(id, op, *target)?,
            Build::Function { target, arguments, member } => self.function(id, *target, arguments, member)?,
            Build::Loop { two, shape } => self.looped(two, &shape)?,
            Build::Fold { two } => {
                let [range, init, condition, step, result] = self.take_array()?;
                Op::Fold(Box::new(Fold { range, two, init, condition, step, result }))
            }
            Build::Bind => {
                let [init, body] = self.take_array()?;
                Op::Bind(Box::new(Bind { init, body }))
            }
        })
    }

    pub(super) fn done(&mut self, id: NodeId, op: Op) {
        self.planned.push(Node { id, op });
    }

    /// Sets the tasks for a node whose parts see what it sees.
    pub(super) fn parts(&mut self, id: NodeId, build: Build, parts: impl DoubleEndedIterator<Item = NodeId>) {
        self.tasks.push(Task::Build(id, build));
        self.tasks.extend(parts.rev().map(Task::Plan));
    }

    /// Sets tasks, to be done in the order given.
    pub(super) fn set(&mut self, tasks: impl IntoIterator<Item = Task, IntoIter: DoubleEndedIterator>) {
        self.tasks.extend(tasks.into_iter().rev());
    }

    /// The last planned nodes, in the order in which they were planned.
    pub(super) fn take(&mut self, count: usize) -> Result<Vec<Node>, Issues> {
        match self.planned.len().checked_sub(count) {
            Some(first) => Ok(self.planned.split_off(first)),
            // Not reached: each part leaves one node.
            None => Err(broken()),
        }
    }

    pub(super) fn take_array<const N: usize>(&mut self) -> Result<[Node; N], Issues> {
        <[Node; N]>::try_from(self.take(N)?).map_err(|_| broken())
    }

    pub(super) fn take_one(&mut self) -> Result<Node, Issues> {
        self.planned.pop().ok_or_else(broken)
    }

    pub(super) fn ast_node(&self, id: NodeId) -> Result<&'a ast::Node, Issues> {
        // Upheld by the parser; an error for a tree that another made.
        self.ast.node(id).ok_or_else(broken)
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
        Issues::one(Issue { span, at, message: message.into(), help: None })
    }

    pub(super) fn halt_issue(&self, id: NodeId, halt: &Halt) -> Issues {
        match halt {
            Halt::Error(e) => self.issue(id, e.message.clone()),
            Halt::Unknown(_) => self.issue(id, "a constant cannot be unknown"),
        }
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

    fn list(&mut self, optional: &[bool]) -> Result<Op, Issues> {
        let values = self.take(optional.len())?;
        let elements = values.into_iter().zip(optional).map(|(value, optional)| Element { value, optional: *optional });
        let planned: Vec<Element> = elements.collect();
        let constants = planned.iter().map(|e| match &e.value.op {
            Op::Const(value) if !e.optional => Some(value.clone()),
            _ => None,
        });
        Ok(match constants.collect::<Option<Vec<Value>>>() {
            Some(values) => Op::Const(values.into()),
            None => Op::List(planned.into()),
        })
    }

    fn map(&mut self, optional: &[bool]) -> Result<Op, Issues> {
        let mut parts = self.take(2 * optional.len())?.into_iter();
        let mut planned = Vec::with_capacity(optional.len());
        for optional in optional {
            if let (Some(key), Some(value)) = (parts.next(), parts.next()) {
                planned.push(Entry { key, value, optional: *optional, fit: Fit::Any });
            }
        }
        let unique = !self.env.options().lenient;
        Ok(constant_map(&planned, unique).unwrap_or_else(|| Op::Map { entries: planned.into(), unique }))
    }

    /// An object literal. Its value is a map, under the keys that the provider knows.
    fn visit_object(&mut self, id: NodeId, name: &Arc<str>, fields: &[StructField]) -> Result<(), Issues> {
        let object = match self.reference(id) {
            Some(Reference::Constant(Value::Type(ty))) => match &**ty {
                Type::Object(name) => Some(name.clone()),
                _ => None,
            },
            _ => self.object_type(name),
        };
        let object = object.ok_or_else(|| self.issue(id, format!("unknown type: {name}")))?;
        let mut keys = Vec::with_capacity(fields.len());
        for field in fields {
            let known = self.env.provider().and_then(|p| p.field(&object, &field.name));
            let known = known.ok_or_else(|| self.issue(field.value, format!("no such field '{}'", field.name)))?;
            keys.push((known.key, field.optional, fit(&known.ty)));
        }
        self.parts(id, Build::Object(keys.into()), fields.iter().map(|field| field.value));
        Ok(())
    }

    fn object(&mut self, id: NodeId, fields: Box<[(Arc<str>, bool, Fit)]>) -> Result<Op, Issues> {
        let values = self.take(fields.len())?;
        let entries = values.into_iter().zip(fields).map(|(value, (key, optional, fit))| {
            let key = Node { id, op: Op::Const(Value::String(key)) };
            Entry { key, value, optional, fit }
        });
        Ok(Op::Object(entries.collect()))
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

/// The nodes that are worth planning once although two parents have them.
fn shared(ast: &Ast) -> Table<NodeId, Option<usize>> {
    let mut shared = Table::default();
    let mut seen = vec![false; ast.nodes().len()];
    let mut open = vec![ast.root()];
    while let Some(id) = open.pop() {
        let Some(node) = ast.node(id) else { continue };
        match seen.get_mut(id.0 as usize) {
            Some(seen @ false) => *seen = true,
            _ => {
                if !matches!(node.kind, Kind::Literal(_) | Kind::Ident(_)) {
                    shared.insert(id, None);
                }
                continue;
            }
        }
        node.kind.for_each_child(|child| open.push(child));
    }
    shared
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

/// What no tree of the parser's is.
pub(super) fn broken() -> Issues {
    Issues::one(Issue::without_place("the tree is broken"))
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
