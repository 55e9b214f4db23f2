//! Where a walk stands: a path on the stack that is only built when there is something to say.
//!
//! Absent: what is walked.
use std::{borrow::Cow, fmt::Write};

use crate::engine::diagnostic::FieldPath;

/// A node of the path, its parents on the stack.
#[derive(Clone, Copy)]
pub(super) enum Trail<'a> {
    /// Where the walk began.
    Root(&'a FieldPath),
    /// A field, printed `.name`.
    Field(&'a Trail<'a>, &'a str),
    /// A map's entry, printed `[key]`.
    Key(&'a Trail<'a>, &'a str),
    /// A list's element.
    Index(&'a Trail<'a>, usize),
}

/// Bytes of a name that a path shows: a request's names may be as long as its body, and paths are told again and again.
const MAX_NAME: usize = 256;

fn shown(name: &str) -> Cow<'_, str> {
    match name.len() > MAX_NAME {
        true => format!("{}...", name.get(..name.floor_char_boundary(MAX_NAME)).unwrap_or_default()).into(),
        false => name.into(),
    }
}

impl Trail<'_> {
    /// The path as a value.
    pub(super) fn path(&self) -> FieldPath {
        match self {
            Trail::Root(path) => (*path).clone(),
            Trail::Field(parent, name) => parent.path().field(&shown(name)),
            Trail::Key(parent, key) => parent.path().key(&shown(key)),
            Trail::Index(parent, index) => parent.path().index(*index),
        }
    }

    /// `spec.objs[0].y`; map entries are printed as fields, as Kubernetes' decoders do.
    pub(super) fn dotted(&self) -> String {
        let mut text = String::new();
        self.print(&mut text);
        text
    }

    fn print(&self, out: &mut String) {
        let _ = match self {
            Trail::Root(path) => write!(out, "{path}"),
            Trail::Field(parent, name) | Trail::Key(parent, name) => {
                parent.print(out);
                let name = shown(name);
                if out.is_empty() { write!(out, "{name}") } else { write!(out, ".{name}") }
            }
            Trail::Index(parent, index) => {
                parent.print(out);
                write!(out, "[{index}]")
            }
        };
    }
}
