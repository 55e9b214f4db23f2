//! The type checker: every node gets a type, every call its overloads, every name what it stands for.
//!
//! Its rules and words are cel-go's; what it adds is help (`did you mean ...?`). It reports all errors at once, in the order
//! of their places.
//!
//! Absent: values beyond constants, evaluation.
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use crate::{
    ast::{Ast, Kind, NodeId},
    env::{Env, Table},
    source::{Found, Issues},
    types::Type,
    value::Value,
};

mod attributes;
mod calls;
mod homogeneous;
mod names;
mod report;
mod unify;
mod walk;

use unify::{Ty, Types};

/// A checked expression.
#[derive(Clone, Debug)]
pub struct Checked {
    pub(crate) ast: Arc<Ast>,
    /// By node id.
    pub(crate) types: Vec<Type>,
    /// By node id.
    pub(crate) references: Vec<Option<Reference>>,
}

/// What a node refers to.
#[derive(Clone, Debug)]
pub enum Reference {
    /// A variable (an identifier, or a select chain that names a dotted variable), by its full name. Local variables of
    /// comprehensions shadow; they have none.
    Variable(Arc<str>),
    /// A constant or type name; of a struct literal, its type.
    Constant(Value),
    /// The candidate overloads of a call, by id; one when the arguments' types decide.
    Overloads(Arc<[&'static str]>),
    /// A field of an object type, of a select or an optional select: the key in the value's map.
    Field(Arc<str>),
}

/// A path that an expression reads from a variable: `object.spec.bucket`. It ends where a computed step begins.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttributePath {
    /// The variable.
    pub variable: Arc<str>,
    /// The fields (their keys in values).
    pub fields: Vec<Arc<str>>,
}

impl Checked {
    /// The tree. Names of functions and struct types in it are full names: `math.greatest(x)` is a call without receiver.
    pub fn ast(&self) -> &Arc<Ast> {
        &self.ast
    }

    /// The expression's type.
    pub fn result_type(&self) -> &Type {
        self.type_of(self.ast.root()).unwrap_or(&Type::Dyn)
    }

    /// A node's type.
    pub fn type_of(&self, node: NodeId) -> Option<&Type> {
        self.types.get(node.0 as usize)
    }

    /// What a node refers to; nothing for operators' operands, literals, local variables.
    pub fn reference(&self, node: NodeId) -> Option<&Reference> {
        self.references.get(node.0 as usize)?.as_ref()
    }

    /// Exactly the inputs that it reads, deduplicated, without those whose prefix is there.
    pub fn attributes(&self) -> Vec<AttributePath> {
        attributes::read_by(self)
    }

    /// The nodes that the root reaches, each once.
    pub(crate) fn reachable(&self) -> Vec<NodeId> {
        let mut seen = vec![false; self.ast.nodes().len()];
        let mut open = vec![self.ast.root()];
        let mut reached = vec![];
        while let Some(id) = open.pop() {
            match seen.get_mut(id.0 as usize) {
                Some(seen @ false) => *seen = true,
                _ => continue,
            }
            reached.push(id);
            if let Some(node) = self.ast.node(id) {
                node.kind.for_each_child(|child| open.push(child));
            }
        }
        reached
    }
}

struct Checker<'a> {
    env: &'a Env,
    ast: Arc<Ast>,
    types: Types,
    /// By node id.
    found: Vec<Option<Ty>>,
    /// By node id.
    references: Vec<Option<Reference>>,
    /// The types of local variables by name, the innermost last.
    locals: Table<Arc<str>, Vec<Ty>>,
    /// What names that are no local variables stand for, once looked up.
    known: Table<Arc<str>, Option<names::Meaning>>,
    /// The first parts of dotted names that the environment declares.
    dotted: HashSet<Arc<str>>,
    /// What calls of known functions with known types come to.
    resolved: Table<calls::CallKey, calls::Resolved>,
    tasks: Vec<walk::Task>,
    /// The full names of functions whose name in the text is another or has a namespace for a receiver.
    renamed: HashMap<NodeId, Arc<str>>,
    /// Help for names that are no variables but stand where a namespace does: `lists.rang(3)`.
    misnamed: HashMap<NodeId, String>,
    /// The full names of the types of struct literals.
    structs: Vec<(NodeId, Arc<str>)>,
    issues: Found,
    overflow_reported: bool,
}

/// Checks `ast` in `env`.
pub(crate) fn check(env: &Env, ast: Ast) -> Result<Checked, Issues> {
    let (nodes, root) = (ast.nodes().len(), ast.root());
    let mut checker = Checker {
        env,
        ast: Arc::new(ast),
        types: Types::new(),
        found: vec![None; nodes],
        references: vec![None; nodes],
        locals: Table::default(),
        known: Table::default(),
        dotted: names::dotted_roots(env),
        resolved: Table::default(),
        tasks: vec![],
        renamed: HashMap::new(),
        misnamed: HashMap::new(),
        structs: vec![],
        issues: Found::default(),
        overflow_reported: false,
    };
    checker.walk(root);
    let Checker { ast, types, found, references, renamed, structs, issues, .. } = checker;
    if !issues.is_empty() {
        return Err(issues.into_issues());
    }
    let checked = Checked { ast: full_names(ast, renamed, structs), types: types.finish_all(found), references };
    let issues = validate(env, &checked);
    if issues.is_empty() { Ok(checked) } else { Err(issues.into_issues()) }
}

fn full_names(mut ast: Arc<Ast>, renamed: HashMap<NodeId, Arc<str>>, structs: Vec<(NodeId, Arc<str>)>) -> Arc<Ast> {
    if renamed.is_empty() && structs.is_empty() {
        return ast;
    }
    let nodes = &mut Arc::make_mut(&mut ast).nodes;
    for (id, full) in renamed {
        if let Some(Kind::Call { target, function, .. }) = nodes.get_mut(id.0 as usize).map(|node| &mut node.kind) {
            *target = None;
            *function = full;
        }
    }
    for (id, full) in structs {
        if let Some(Kind::Struct { name, .. }) = nodes.get_mut(id.0 as usize).map(|node| &mut node.kind) {
            *name = full;
        }
    }
    ast
}

/// What is wrong with literals whose types are right.
fn validate(env: &Env, checked: &Checked) -> Found {
    let mut issues = Found::default();
    let validators = env.validators();
    if validators.is_empty() && !env.options().homogeneous_aggregates {
        return issues;
    }
    let reachable = checked.reachable();
    for &id in &reachable {
        if let Some(Kind::Call { function, .. }) = checked.ast.node(id).map(|node| &node.kind) {
            for (_, validator) in validators.iter().filter(|(name, _)| *name == &**function) {
                let mut found = vec![];
                validator(checked, id, &mut found);
                found.into_iter().for_each(|issue| issues.push(issue));
            }
        }
    }
    if env.options().homogeneous_aggregates {
        homogeneous::validate(checked, &mut issues);
    }
    issues
}

#[cfg(test)]
mod tests;
