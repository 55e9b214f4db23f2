//! JSONPath (RFC 9535) on bodies of HTTP answers, bounded in every part: authors write the paths, and backends the bodies.
//!
//! | file | owns |
//! |---|---|
//! | `path` | from text to a [`path::Path`]; the one file that knows jsonpath-rust |
//! | `follow` | from a path and a value to nodes, with a budget |
//!
//! Following is not left to jsonpath-rust: it has no bound (`$..[?count($..*) > 0]` over a body of a megabyte takes hours), and
//! writes the path of every node (a key of half a megabyte above 100,000 values takes 50 GB). Absent: the schema of what is
//! selected.
mod follow;
mod path;

use cel::{Value, value::List};

use crate::engine::definition::Select;

/// A parsed selection.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    path: path::Path,
    all: bool,
}

/// Parses a path.
///
/// # Errors
/// What is wrong with it, in one line.
pub(crate) fn parse(select: &Select) -> Result<Selection, String> {
    let (text, all) = match select {
        Select::One(text) => (text, false),
        Select::All(text) => (text, true),
    };
    Ok(Selection { path: path::parse(text)?, all })
}

impl Selection {
    /// What is selected of a body; a list for `selectAll`.
    ///
    /// # Errors
    /// Not exactly one node for `select`; it says how many there were and never shows them.
    pub(crate) fn of(&self, body: &Value) -> Result<Value, String> {
        let name = if self.all { "selectAll" } else { "select" };
        let nodes = follow::follow(&self.path, body)
            .map_err(|_| format!("`{name}` has too much to look at in the answer; a narrower path has less"))?;
        if self.all {
            return Ok(Value::List(List::from(nodes.into_iter().cloned().collect::<Vec<_>>())));
        }
        match nodes.as_slice() {
            [node] => Ok(Value::clone(node)),
            [] => Err("`select` finds nothing in the answer".to_owned()),
            nodes => Err(format!("`select` finds {} values in the answer; `selectAll` takes them all", nodes.len())),
        }
    }
}

#[cfg(test)]
mod tests;
