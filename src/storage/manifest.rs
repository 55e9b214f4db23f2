//! Manifests: YAML and JSON texts as documents whose every value knows its place in the text.
//!
//! | file | owns |
//! |---|---|
//! | `parse` | text -> documents; with `explain` the only file that knows the YAML parser |
//! | `explain` | the parser's errors as an author needs them |
//! | `scalar` | plain scalars -> values, as Kubernetes' YAML has them |
//! | `spell` | how a scalar is spelt: where each byte of its value comes from |
//! | `render` | diagnostics in the author's text; the only file that knows annotate-snippets |
//!
//! Absent: what documents mean (lower, directory), bodies of requests (decode).
mod explain;
mod parse;
mod render;
mod scalar;
mod spell;

use std::{ops::Range, sync::Arc};

use cel::Value;

use self::spell::Style;
pub use self::{
    parse::{Manifest, ManifestError, parse},
    render::{Color, render, render_error},
};
use crate::engine::diagnostic::{FieldPath, Place, Step};

/// One document of a file.
#[derive(Clone, Debug)]
pub struct Document {
    /// The file, as it is to be shown.
    pub file: Arc<str>,
    /// The whole text of the file.
    pub text: Arc<str>,
    /// What it says.
    pub value: Value,
    /// Whether an error of the text is within it: a key that stands twice.
    pub is_flawed: bool,
    node: Arc<Node>,
}

/// Where a value stands, in the shape of the value.
#[derive(Debug)]
struct Node {
    /// Bytes of the file's text. Of a block collection: from its first entry to the end of its last.
    range: Range<usize>,
    shape: Shape,
    /// How many nodes it holds, itself included.
    size: usize,
}

#[derive(Debug)]
enum Shape {
    Scalar(Style),
    List { flow: bool, items: Vec<Arc<Node>> },
    Map { flow: bool, entries: Vec<Entry> },
}

#[derive(Clone, Debug)]
struct Entry {
    key: Arc<str>,
    key_range: Range<usize>,
    node: Arc<Node>,
}

/// 1-based line and column, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// The position of a byte of a text; past its end is its end.
pub fn position(text: &str, byte: usize) -> Position {
    let before = text.get(..text.floor_char_boundary(byte)).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |i| i + 1);
    Position {
        line: 1 + before.bytes().filter(|b| *b == b'\n').count(),
        column: 1 + before.get(line_start..).map_or(0, |line| line.chars().count()),
    }
}

impl Document {
    /// The bytes of the file's text that are a field's value, its key, or a part of its string. `None` if there is no such
    /// field, or the string is spelt in a way that cannot be followed.
    pub fn locate(&self, path: &FieldPath, place: &Place) -> Option<Range<usize>> {
        let (node, key) = self.find(path.steps())?;
        match place {
            Place::Value => Some(node.range.clone()),
            Place::Key => key,
            Place::Within(range) => {
                let Shape::Scalar(style) = &node.shape else { return None };
                let value = self.value_at(path.steps())?;
                let Value::String(value) = value else { return None };
                spell::within(&self.text, &node.range, *style, value, range)
            }
        }
    }

    /// Where to point for a field, whether or not it is there: the part, else the field, else its nearest parent's key.
    pub fn nearest(&self, path: &FieldPath, place: &Place) -> Range<usize> {
        if let Some(range) = self.locate(path, place)
            && (*place != Place::Value || self.is_compact(path))
        {
            return range;
        }
        let steps = path.steps();
        for length in (0..=steps.len()).rev() {
            let Some((node, key)) = steps.get(..length).and_then(|steps| self.find(steps)) else { continue };
            if let Some(key) = key {
                return key;
            }
            return first_line(&self.text, &node.range);
        }
        0..0
    }

    /// The line and column of a field, in characters.
    pub fn position(&self, path: &FieldPath, place: &Place) -> Position {
        position(&self.text, self.nearest(path, place).start)
    }

    /// Whether a value is best underlined itself: not a collection that goes on over lines.
    fn is_compact(&self, path: &FieldPath) -> bool {
        self.find(path.steps()).is_some_and(|(node, _)| match &node.shape {
            Shape::Scalar(_) => true,
            Shape::List { flow, .. } | Shape::Map { flow, .. } => {
                *flow && !self.text.get(node.range.clone()).is_some_and(|text| text.contains('\n'))
            }
        })
    }

    /// The node of a path, and the key that it stands behind.
    fn find(&self, steps: &[Step]) -> Option<(&Arc<Node>, Option<Range<usize>>)> {
        let mut node = &self.node;
        let mut key = None;
        for step in steps {
            match (step, &node.shape) {
                (Step::Field(name) | Step::Key(name), Shape::Map { entries, .. }) => {
                    let entry = entries.iter().find(|entry| entry.key == *name)?;
                    node = &entry.node;
                    key = Some(entry.key_range.clone());
                }
                (Step::Index(index), Shape::List { items, .. }) => {
                    node = items.get(*index)?;
                    key = None;
                }
                _ => return None,
            }
        }
        Some((node, key))
    }

    fn value_at(&self, steps: &[Step]) -> Option<&Value> {
        steps.iter().try_fold(&self.value, |value, step| match (step, value) {
            (Step::Field(name) | Step::Key(name), Value::Map(map)) => map.get(name),
            (Step::Index(index), Value::List(list)) => list.as_slice().get(*index),
            _ => None,
        })
    }
}

/// The part of a range on its first line.
fn first_line(text: &str, range: &Range<usize>) -> Range<usize> {
    let part = text.get(range.clone()).unwrap_or_default();
    let length = part.find('\n').unwrap_or(part.len());
    let line = part.get(..length).unwrap_or_default();
    range.start..range.start + line.trim_end().len()
}

#[cfg(test)]
mod tests;
