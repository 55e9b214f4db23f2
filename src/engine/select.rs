//! JSONPath (RFC 9535) on bodies of HTTP answers: the one file of the engine that knows jsonpath-rust.
//!
//! Absent: the schema of what is selected.
use std::fmt;

use cel::{Value, value::List};
use jsonpath_rust::{
    parser::{model::JpQuery, parse_json_path},
    query::js_path_process,
};

use crate::engine::definition::Select;

/// A parsed selection.
#[derive(Clone)]
pub(crate) struct Selection {
    query: JpQuery,
    all: bool,
}

impl fmt::Debug for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Selection").field("all", &self.all).finish_non_exhaustive()
    }
}

/// Parses a path.
///
/// # Errors
/// What is wrong with it, in one line.
pub(crate) fn parse(select: &Select) -> Result<Selection, String> {
    let (path, all) = match select {
        Select::One(path) => (path, false),
        Select::All(path) => (path, true),
    };
    let query = parse_json_path(path).map_err(|_| "this is no JSONPath (RFC 9535)".to_owned())?;
    Ok(Selection { query, all })
}

impl Selection {
    /// What is selected of a body; a list for `selectAll`.
    ///
    /// # Errors
    /// Not exactly one node for `select`; it says how many there were and never shows them.
    pub(crate) fn of(&self, body: &Value) -> Result<Value, String> {
        let json = serde_json::to_value(body).map_err(|_| "the body nests too deeply".to_owned())?;
        let nodes = js_path_process(&self.query, &json).map_err(|_| "the path could not be followed".to_owned())?;
        let value = |json: &serde_json::Value| {
            serde_json::from_value::<Value>(json.clone()).map_err(|_| "the value nests too deeply".to_owned())
        };
        if self.all {
            let values = nodes.into_iter().map(|node| value(node.val)).collect::<Result<Vec<_>, _>>()?;
            return Ok(Value::List(List::from(values)));
        }
        match nodes.as_slice() {
            [node] => value(node.val),
            [] => Err("`select` finds nothing in the answer".to_owned()),
            nodes => Err(format!("`select` finds {} values in the answer; `selectAll` takes them all", nodes.len())),
        }
    }
}
