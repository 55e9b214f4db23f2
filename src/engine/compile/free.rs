//! The names that an expression takes from outside, found before anything has a type.
//!
//! They decide the order in which sources and variables are typed, so they come from the tree alone: an identifier that no
//! enclosing comprehension binds. Of `variables.x` the field counts.
//!
//! Absent: types (cel's checker finds exact attribute paths once types are known).
use std::{collections::BTreeSet, sync::Arc};

use cel::ast::{Ast, Kind, NodeId};

/// A name from outside.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Name {
    /// `variables.x`
    Variable(Arc<str>),
    /// Any other identifier: `object`, a source's id.
    Plain(Arc<str>),
}

/// The free names of a tree, each once.
pub(crate) fn free(ast: &Ast) -> BTreeSet<Name> {
    let mut found = Found { names: BTreeSet::new(), seen: vec![false; ast.nodes().len()] };
    collect(ast, ast.root(), None, &mut found);
    found.names
}

struct Found {
    names: BTreeSet<Name>,
    /// A macro may use a node twice, in the same scope: chained ones would take exponential time.
    seen: Vec<bool>,
}

/// Names bound by the comprehensions around a node.
struct Scope<'a> {
    names: [Option<&'a str>; 3],
    outer: Option<&'a Scope<'a>>,
}

fn bound(name: &str, mut scope: Option<&Scope<'_>>) -> bool {
    while let Some(Scope { names, outer }) = scope {
        if names.contains(&Some(name)) {
            return true;
        }
        scope = *outer;
    }
    false
}

/// Recursion is bounded by the depth of the tree, which the parser bounds.
fn collect(ast: &Ast, id: NodeId, scope: Option<&Scope<'_>>, found: &mut Found) {
    let Some(node) = ast.node(id) else { return };
    match found.seen.get_mut(id.0 as usize) {
        Some(seen) if !*seen => *seen = true,
        _ => return,
    }
    match &node.kind {
        Kind::Literal(_) => {}
        Kind::Ident(name) => {
            let plain = name.strip_prefix('.').unwrap_or(name);
            if !bound(name, scope) {
                found.names.insert(Name::Plain(plain.into()));
            }
        }
        Kind::Select { operand, field, .. } => match ast.node(*operand).map(|n| &n.kind) {
            Some(Kind::Ident(name)) if &**name == "variables" && !bound(name, scope) => {
                found.names.insert(Name::Variable(field.clone()));
            }
            _ => collect(ast, *operand, scope, found),
        },
        Kind::Call { target, args, .. } => {
            for id in target.iter().chain(args) {
                collect(ast, *id, scope, found);
            }
        }
        Kind::List { elements } => {
            for (id, _) in elements {
                collect(ast, *id, scope, found);
            }
        }
        Kind::Struct { fields, .. } => {
            for field in fields {
                collect(ast, field.value, scope, found);
            }
        }
        Kind::Map { entries } => {
            for entry in entries {
                collect(ast, entry.key, scope, found);
                collect(ast, entry.value, scope, found);
            }
        }
        Kind::Comprehension(c) => {
            collect(ast, c.iter_range, scope, found);
            collect(ast, c.accu_init, scope, found);
            let accu = Scope { names: [Some(&*c.accu_var), None, None], outer: scope };
            collect(ast, c.result, Some(&accu), found);
            let inner = Scope { names: [Some(&*c.accu_var), Some(&*c.iter_var), c.iter_var2.as_deref()], outer: scope };
            collect(ast, c.loop_condition, Some(&inner), found);
            collect(ast, c.loop_step, Some(&inner), found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::language;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let names = free(&language::base().parse(text).unwrap());
        let show = |name: &Name| match name {
            Name::Plain(name) => name.to_string(),
            Name::Variable(name) => format!("variables.{name}"),
        };
        assert_eq!(names.iter().map(show).collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn comprehensions_bind_their_variables_only_inside() {
        check("objects.map(o, o.spec.size).sum()", &["objects"]);
        check("o.map(o, o.x) + [o]", &["o"]);
        check("a.all(x, b.exists(y, x == y && z))", &["a", "b", "z"]);
        check("cel.bind(v, variables.x, v + variables.y)", &["variables.x", "variables.y"]);
        check("has(a.b) ? {'k': c}[d] : [e, ?f]", &["a", "c", "d", "e", "f"]);
    }

    #[test]
    fn chained_macros_are_walked_once() {
        let chain = "x".to_owned() + &".optMap(v, v + w)".repeat(40);
        check(&chain, &["w", "x"]);
    }
}
