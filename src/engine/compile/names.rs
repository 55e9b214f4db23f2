//! The names of a projection: which are allowed, who reads whom by them.
//!
//! Absent: the order that follows (order), types.
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::engine::{
    compile::{
        free::{Name, free},
        order::Graph,
        parsed::{Parsed, ParsedNode},
    },
    definition::Definition,
    diagnostic::{Diagnostic, FieldPath, Place},
    limits::{MAX_SOURCES, MAX_VALIDATIONS, MAX_VARIABLES},
    plan::Work,
};

/// Names that mean something else in every expression, here or in Kubernetes.
const TAKEN: [&str; 9] =
    ["object", "oldObject", "request", "authorizer", "variables", "params", "namespaceObject", "self", "oldSelf"];

/// Reports names that cannot be, that are taken or come twice, and lists that are too long.
pub(crate) fn check(definition: &Definition, diagnostics: &mut Vec<Diagnostic>) {
    let root = FieldPath::root().field("projection");
    let lengths = [
        ("sources", definition.sources.len(), MAX_SOURCES),
        ("variables", definition.variables.len(), MAX_VARIABLES),
        ("validations", definition.validations.len(), MAX_VALIDATIONS),
    ];
    for (field, length, most) in lengths {
        if length > most {
            let message = format!("{length} {field}, and there may be {most}");
            diagnostics.push(Diagnostic::error(root.field(field), message));
        }
    }
    let ids: BTreeSet<&str> = definition.sources.iter().map(|source| &*source.id).collect();
    let mut seen = BTreeSet::new();
    for (i, source) in definition.sources.iter().enumerate() {
        let path = root.field("sources").index(i);
        name(&source.id, "id", &path.field("id"), Place::Value, diagnostics);
        if !seen.insert(&*source.id) {
            let message = format!("two sources have the id `{}`", source.id);
            diagnostics.push(Diagnostic::error(path.field("id"), message));
        }
        let mut dimensions = BTreeSet::new();
        for (j, (variable, _)) in source.for_each.iter().enumerate() {
            let path = path.field("forEach").index(j).field(variable);
            name(variable, "variable", &path, Place::Key, diagnostics);
            if ids.contains(&**variable) || !dimensions.insert(&**variable) {
                let message = format!("`{variable}` is a name already");
                diagnostics.push(Diagnostic::error(path, message).at(Place::Key));
            }
        }
    }
    let mut seen = BTreeSet::new();
    for (i, variable) in definition.variables.iter().enumerate() {
        let path = root.field("variables").index(i).field("name");
        identifier(&variable.name, "name", &path, Place::Value, diagnostics);
        if !seen.insert(&*variable.name) {
            let message = format!("two variables have the name `{}`", variable.name);
            diagnostics.push(Diagnostic::error(path, message));
        }
    }
}

/// Whether a name means something else in every expression.
pub(crate) fn is_taken(name: &str) -> bool {
    TAKEN.contains(&name)
}

fn name(name: &str, what: &str, path: &FieldPath, place: Place, diagnostics: &mut Vec<Diagnostic>) {
    if is_taken(name) {
        let message = format!("`{name}` is reserved");
        let help = format!("take another {what}: `{name}` means something else in expressions");
        diagnostics.push(Diagnostic::error(path.clone(), message).at(place).help(help));
    } else {
        identifier(name, what, path, place, diagnostics);
    }
}

fn identifier(name: &str, what: &str, path: &FieldPath, place: Place, diagnostics: &mut Vec<Diagnostic>) {
    let mut chars = name.chars();
    let well_formed = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_');
    if cel::is_reserved(name) {
        let message = format!("`{name}` is a word of CEL");
        diagnostics.push(Diagnostic::error(path.clone(), message).at(place).help(format!("take another {what}")));
    } else if !well_formed {
        let message = format!("`{name}` cannot be named in expressions");
        let help = format!("use letters, digits and `_` for the {what}, and no digit at its beginning");
        diagnostics.push(Diagnostic::error(path.clone(), message).at(place).help(help));
    }
}

/// Which nodes each node reads.
pub(crate) fn graph(nodes: &[ParsedNode]) -> Graph {
    let indexes = indexes(nodes);
    nodes.iter().map(|node| node.work.as_ref().map(|work| reads(work, &indexes)).unwrap_or_default()).collect()
}

fn indexes(nodes: &[ParsedNode]) -> BTreeMap<Name, usize> {
    let name = |node: &ParsedNode| match node.name.strip_prefix("variables.") {
        Some(variable) => Name::Variable(variable.into()),
        None => Name::Plain(node.name.clone()),
    };
    // Of two of the same name the first counts; the second is reported.
    nodes.iter().enumerate().rev().map(|(i, node)| (name(node), i)).collect()
}

fn reads(work: &Work<Parsed>, indexes: &BTreeMap<Name, usize>) -> BTreeSet<usize> {
    let dimensions: Vec<&Arc<str>> = match work {
        Work::Source(source) => source.for_each.iter().map(|(name, _)| name).collect(),
        Work::Variable(_) => Vec::new(),
    };
    let is_dimension = |name: &Name| matches!(name, Name::Plain(plain) if dimensions.contains(&plain));
    let names = work.expressions().into_iter().filter_map(|e| e.ast.as_ref()).flat_map(free);
    names.filter(|name| !is_dimension(name)).filter_map(|name| indexes.get(&name).copied()).collect()
}

/// Which expressions can be evaluated before anything is fetched.
pub(crate) struct Early {
    indexes: BTreeMap<Name, usize>,
    nodes: BTreeSet<usize>,
}

/// Finds the variables that depend on no source.
pub(crate) fn early(order: &[usize], graph: &Graph, nodes: &[ParsedNode]) -> Early {
    let mut early = BTreeSet::new();
    for index in order {
        let is_source = nodes.get(*index).is_none_or(|node| !node.name.starts_with("variables."));
        if !is_source && graph.get(*index).is_some_and(|reads| reads.is_subset(&early)) {
            early.insert(*index);
        }
    }
    Early { indexes: indexes(nodes), nodes: early }
}

impl Early {
    /// Whether the expression reads no source, directly or through a variable.
    pub(crate) fn holds(&self, expression: &Parsed) -> bool {
        let names = expression.ast.iter().flat_map(free);
        names.filter_map(|name| self.indexes.get(&name)).all(|read| self.nodes.contains(read))
    }
}

/// The error that names a cycle.
pub(crate) fn cycle(cycle: &[usize], nodes: &[ParsedNode]) -> Diagnostic {
    let members: Vec<&ParsedNode> = cycle.iter().filter_map(|i| nodes.get(*i)).collect();
    let names: Vec<&str> = members.iter().chain(members.first()).map(|node| &*node.name).collect();
    let path = members.first().map(|node| node.path.clone()).unwrap_or_default();
    let message = match names.as_slice() {
        [name, _] => format!("`{name}` reads itself"),
        _ => format!("each of these reads the next: `{}`", names.join("` -> `")),
    };
    let field = if members.first().is_some_and(|node| node.name.starts_with("variables.")) { "name" } else { "id" };
    Diagnostic::error(path.field(field), message).help("break the cycle: one of them must do without the other")
}
