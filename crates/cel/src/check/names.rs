//! What names stand for: local variables, declared variables, constants, types, functions; in a container.
//!
//! Absent: types of expressions (walk), wording of errors (report).
use std::{collections::HashSet, sync::Arc};

use super::unify::{Shape, Ty};
use super::{Checker, Reference};
use crate::{
    ast::{Kind, NodeId},
    library::Function,
    value::Value,
};

/// Names with more parts than this are not looked up as one: it bounds the work on long chains of fields.
const MAX_PARTS: usize = 32;

/// The first parts of all dotted names that an environment declares.
pub(super) fn dotted_roots(env: &crate::Env) -> HashSet<Arc<str>> {
    let variables = env.variables().map(|(name, _)| name);
    let constants = env.constants().map(|name| &**name);
    variables.chain(constants).filter_map(|name| name.split_once('.')).map(|(root, _)| root.into()).collect()
}

/// The full names that `name` may stand for in `container`, the innermost first.
fn candidates(container: &str, name: &str) -> impl Iterator<Item = String> {
    let (absolute, name) = match name.strip_prefix('.') {
        Some(rest) => (true, rest),
        None => (false, name),
    };
    let ends = container.char_indices().rev().filter(|(_, c)| *c == '.').map(|(i, _)| i);
    let whole = (!container.is_empty() && !absolute).then_some(container.len());
    let prefixes: Vec<usize> = whole.into_iter().chain(ends.filter(|_| !absolute)).collect();
    prefixes
        .into_iter()
        .map(move |end| format!("{}.{name}", container.get(..end).unwrap_or_default()))
        .chain(std::iter::once(name.to_owned()))
}

/// What a name stands for: its type, and what it refers to unless it is a local variable.
pub(super) type Meaning = (Ty, Option<Reference>);

impl<'a> Checker<'a> {
    /// The variable, constant or type that `name` stands for.
    pub(super) fn lookup(&mut self, name: &Arc<str>) -> Option<Meaning> {
        if let Some(local) = self.local(name) {
            return Some((local, None));
        }
        if let Some(known) = self.known.get(name) {
            return known.clone();
        }
        let env = self.env;
        let found = candidates(env.container(), name).find_map(|name| self.lookup_full(&name));
        self.known.insert(name.clone(), found.clone());
        found
    }

    fn lookup_full(&mut self, name: &str) -> Option<Meaning> {
        if let Some(ty) = self.env.variable(name) {
            let ty = self.types.declared(ty, &mut vec![]);
            return Some((ty, Some(Reference::Variable(name.into()))));
        }
        if let Some((ty, value)) = self.env.constant(name) {
            let ty = self.types.declared(ty, &mut vec![]);
            return Some((ty, Some(Reference::Constant(value.clone()))));
        }
        let named = self.env.provider()?.named_type(name)?;
        let ty = self.types.declared(&named, &mut vec![]);
        let ty = self.types.intern(Shape::Type(ty));
        Some((ty, Some(Reference::Constant(Value::Type(named.into())))))
    }

    /// The innermost local variable of that name.
    pub(super) fn local(&self, name: &str) -> Option<Ty> {
        self.locals.get(name)?.last().copied()
    }

    /// `a.b.c` as one name, if it may be one: its first part is no local variable.
    pub(super) fn qualified_name(&self, id: NodeId) -> Option<String> {
        let mut parts: Vec<&str> = vec![];
        let mut next = id;
        while parts.len() < MAX_PARTS {
            match &self.ast.node(next)?.kind {
                Kind::Select { operand, field, test_only: false, .. } => {
                    parts.push(field);
                    next = *operand;
                }
                Kind::Ident(name) if self.local(name).is_none() => {
                    parts.push(name);
                    parts.reverse();
                    return Some(parts.join("."));
                }
                _ => return None,
            }
        }
        None
    }

    /// What a chain of fields stands for as a whole: a dotted variable, constant or type.
    pub(super) fn lookup_qualified(&mut self, id: NodeId) -> Option<Meaning> {
        let name = self.qualified_name(id)?;
        let absolute = name.trim_start_matches('.');
        let root = absolute.split('.').next().unwrap_or(absolute);
        let provided = self.env.provider().is_some() && self.env.variable(root).is_none();
        if !provided && self.env.container().is_empty() && !self.dotted.contains(root) {
            return None;
        }
        let env = self.env;
        candidates(env.container(), &name).find_map(|name| self.lookup_full(&name))
    }

    /// A function by its name in the container.
    pub(super) fn function(&self, name: &str) -> Option<&'a Function> {
        // Most environments have no container: no name is built.
        if self.env.container().is_empty() {
            return self.env.function(name.strip_prefix('.').unwrap_or(name));
        }
        candidates(self.env.container(), name).find_map(|name| self.env.function(&name))
    }
}

#[cfg(test)]
mod tests {
    use super::candidates;

    #[test]
    fn containers_are_searched_from_the_innermost() {
        let found = |container, name| candidates(container, name).collect::<Vec<_>>();
        assert_eq!(found("a.b", "c.d"), ["a.b.c.d", "a.c.d", "c.d"]);
        assert_eq!(found("a.b", ".c"), ["c"]);
        assert_eq!(found("", "c"), ["c"]);
    }
}
