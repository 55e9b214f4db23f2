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
    let mut names = BTreeSet::new();
    collect(ast, ast.root(), None, &mut names);
    names
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
fn collect(ast: &Ast, id: NodeId, scope: Option<&Scope<'_>>, names: &mut BTreeSet<Name>) {
    let Some(node) = ast.node(id) else { return };
    match &node.kind {
        Kind::Literal(_) => {}
        Kind::Ident(name) => {
            let plain = name.strip_prefix('.').unwrap_or(name);
            if !bound(name, scope) {
                names.insert(Name::Plain(plain.into()));
            }
        }
        Kind::Select { operand, field, .. } => match ast.node(*operand).map(|n| &n.kind) {
            Some(Kind::Ident(name)) if &**name == "variables" && !bound(name, scope) => {
                names.insert(Name::Variable(field.clone()));
            }
            _ => collect(ast, *operand, scope, names),
        },
        Kind::Call { target, args, .. } => {
            for id in target.iter().chain(args) {
                collect(ast, *id, scope, names);
            }
        }
        Kind::List { elements } => {
            for (id, _) in elements {
                collect(ast, *id, scope, names);
            }
        }
        Kind::Struct { fields, .. } => {
            for field in fields {
                collect(ast, field.value, scope, names);
            }
        }
        Kind::Map { entries } => {
            for entry in entries {
                collect(ast, entry.key, scope, names);
                collect(ast, entry.value, scope, names);
            }
        }
        Kind::Comprehension(c) => {
            collect(ast, c.iter_range, scope, names);
            collect(ast, c.accu_init, scope, names);
            let accu = Scope { names: [Some(&*c.accu_var), None, None], outer: scope };
            collect(ast, c.result, Some(&accu), names);
            let inner = Scope { names: [Some(&*c.accu_var), Some(&*c.iter_var), c.iter_var2.as_deref()], outer: scope };
            collect(ast, c.loop_condition, Some(&inner), names);
            collect(ast, c.loop_step, Some(&inner), names);
        }
    }
}
