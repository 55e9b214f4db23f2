//! Text -> documents, through the YAML parser's events. JSON is YAML.
//!
//! Bounded: levels, what aliases expand to. Absent: what plain scalars are (scalar).
use std::{
    collections::{HashMap, HashSet},
    ops::Range,
    sync::Arc,
};

use cel::{
    Value,
    value::{List, MapBuilder},
};
use granit_parser::{Event, Parser, ScalarStyle, Span, StructureStyle, Tag};

use super::{Document, Entry, Node, Position, Shape, explain, position, scalar, spell::Style};

/// Nodes that the aliases of one document may stand for. A text's own nodes are bounded by its length.
const MAX_ALIASED_NODES: usize = 10_000;
/// Levels of nesting of a document: what every recursive walk over values and nodes must bear.
pub(super) const MAX_DEPTH: usize = 100;
/// Errors of one text; each is looked up in it.
const MAX_ERRORS: usize = 100;

/// The documents of a file, and what is wrong with it.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// The file, as it is to be shown.
    pub file: Arc<str>,
    /// Its text.
    pub text: Arc<str>,
    /// The documents that could be read; empty ones are left out.
    pub documents: Vec<Document>,
    /// What keeps it from being used.
    pub errors: Vec<ManifestError>,
}

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{position}: {message}")]
pub struct ManifestError {
    /// Where.
    pub position: Position,
    /// The bytes of the text to underline.
    pub range: Range<usize>,
    /// One lowercase fragment.
    pub message: String,
    /// The key, where the mistake is that it stands there twice: the rest of the text was read, and the last value counts.
    pub repeated: Option<Arc<str>>,
    /// The remedy where it is known.
    pub help: Option<String>,
}

/// Reads a file's text.
pub fn parse(file: &str, text: impl Into<Arc<str>>) -> Manifest {
    let text = text.into();
    let mut manifest = Manifest { file: file.into(), text: Arc::clone(&text), documents: vec![], errors: vec![] };
    // A byte order mark is no part of the text, but its bytes count in the places.
    let mut builder = Builder { text: &text, ..Builder::default() };
    let mut options = granit_parser::Options::default();
    options.set_emit_comments(false);
    options.block_nesting_limit = MAX_DEPTH;
    options.flow_nesting_limit = MAX_DEPTH;
    let mut told = 0;
    for event in Parser::new_from_str_with_options(&text, options) {
        let step = match event {
            Ok((event, span)) => builder.take(event, &span),
            Err(error) => {
                let at = error.marker().byte_offset().unwrap_or(text.len()).min(text.len());
                let open = builder.stack.iter().rev().find(|frame| frame.flow).map(|frame| frame.start);
                Err(explain::error(&text, at, &error.info(), builder.last, open))
            }
        };
        match step {
            Ok(None) => {}
            Ok(Some(built)) => {
                if !matches!(built.value, Value::Null) {
                    let document = Document {
                        file: Arc::clone(&manifest.file),
                        text: Arc::clone(&text),
                        value: built.value,
                        is_flawed: builder.errors.len() > told,
                        node: built.node,
                    };
                    manifest.documents.push(document);
                }
                told = builder.errors.len();
            }
            Err(error) => {
                builder.errors.push(error);
                break;
            }
        }
    }
    manifest.errors = builder.errors;
    manifest
}

pub(super) fn fail(text: &str, range: Range<usize>, message: impl Into<String>) -> ManifestError {
    let position = position(text, range.start);
    ManifestError { position, range, message: message.into(), repeated: None, help: None }
}

/// A finished node.
#[derive(Clone)]
struct Built {
    node: Arc<Node>,
    value: Value,
}

/// Builds the documents on a stack of its own.
#[derive(Default)]
struct Builder<'a> {
    text: &'a str,
    stack: Vec<Frame>,
    anchors: HashMap<usize, Built>,
    aliased: usize,
    /// Where the last event ended.
    last: usize,
    /// Errors that do not keep the rest from being read.
    errors: Vec<ManifestError>,
}

/// An unfinished collection.
struct Frame {
    start: usize,
    end: usize,
    flow: bool,
    anchor: usize,
    collection: Collection,
}

enum Collection {
    List {
        items: Vec<Arc<Node>>,
        values: Vec<Value>,
    },
    Map {
        entries: Vec<Entry>,
        values: MapBuilder,
        keys: HashSet<Arc<str>>,
        key: Option<(Arc<str>, Range<usize>)>,
        merges: Vec<Built>,
    },
}

impl Builder<'_> {
    /// Takes an event; returns a document when it ends.
    fn take(&mut self, event: Event<'_>, span: &Span) -> Result<Option<Built>, ManifestError> {
        let range = span.byte_range().unwrap_or(0..0);
        self.last = range.end.max(self.last);
        let flow = |style| style == StructureStyle::Flow;
        match event {
            Event::DocumentStart(..) => {
                self.anchors.clear();
                self.aliased = 0;
                Ok(None)
            }
            Event::Alias(anchor) => {
                let Some(built) = self.anchors.get(&anchor).cloned() else {
                    return Err(fail(self.text, range, "an alias cannot stand within what it stands for"));
                };
                self.aliased += built.node.size;
                if self.aliased > MAX_ALIASED_NODES {
                    let message =
                        format!("the aliases of one document may stand for at most {MAX_ALIASED_NODES} values");
                    return Err(fail(self.text, range, message));
                }
                self.finish(built, range, true)
            }
            Event::Scalar(text, style, anchor, tag) => {
                let value = self.scalar(&text, style, tag.as_deref(), &range)?;
                let style = match style {
                    ScalarStyle::SingleQuoted => Style::SingleQuoted,
                    ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
                    ScalarStyle::Literal => Style::Literal,
                    ScalarStyle::Folded => Style::Folded,
                    _ => Style::Plain,
                };
                let node_range = match style {
                    // The parser's range goes on to the next token.
                    Style::Literal | Style::Folded => trimmed(self.text, &range),
                    _ => range.clone(),
                };
                let node = Arc::new(Node { range: node_range, shape: Shape::Scalar(style), size: 1 });
                let built = Built { node, value };
                if anchor != 0 {
                    self.anchors.insert(anchor, built.clone());
                }
                // A key's own spelling is what stands in the text.
                if self.wants_key() {
                    self.key(&text, range);
                    return Ok(None);
                }
                self.finish(built, range, false)
            }
            Event::SequenceStart(style, anchor, _) => {
                self.open(&range, flow(style), anchor, Collection::List { items: vec![], values: vec![] })
            }
            Event::MappingStart(style, anchor, _) => {
                let map = Collection::Map {
                    entries: vec![],
                    values: MapBuilder::default(),
                    keys: HashSet::new(),
                    key: None,
                    merges: vec![],
                };
                self.open(&range, flow(style), anchor, map)
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(&range),
            _ => Ok(None),
        }
    }

    fn scalar(
        &self,
        text: &str,
        style: ScalarStyle,
        tag: Option<&Tag>,
        range: &Range<usize>,
    ) -> Result<Value, ManifestError> {
        match tag.and_then(Tag::core_suffix) {
            Some("str" | "binary" | "timestamp") => return Ok(Value::from(text)),
            Some("float" | "int" | "bool" | "null") => {}
            _ if style != ScalarStyle::Plain => return Ok(Value::from(text)),
            _ => {}
        }
        scalar::resolve(text).map_err(|message| fail(self.text, range.clone(), message))
    }

    fn wants_key(&self) -> bool {
        matches!(self.stack.last(), Some(Frame { collection: Collection::Map { key: None, .. }, .. }))
    }

    /// Keys are strings: Kubernetes' YAML turns numbers and booleans into them.
    fn key(&mut self, text: &str, range: Range<usize>) {
        let text: Arc<str> = text.into();
        let Some(Frame { collection: Collection::Map { keys, key, .. }, end, .. }) = self.stack.last_mut() else {
            return;
        };
        if !keys.insert(Arc::clone(&text)) && &*text != "<<" && self.errors.len() < MAX_ERRORS {
            let error = fail(self.text, range.clone(), format!("duplicate key `{text}`"));
            self.errors.push(ManifestError { repeated: Some(Arc::clone(&text)), ..error });
        }
        *end = range.end;
        *key = Some((text, range));
    }

    fn open(
        &mut self,
        range: &Range<usize>,
        flow: bool,
        anchor: usize,
        collection: Collection,
    ) -> Result<Option<Built>, ManifestError> {
        if self.wants_key() {
            return Err(fail(self.text, range.clone(), "a key must be a scalar"));
        }
        if self.stack.len() >= MAX_DEPTH {
            return Err(fail(self.text, range.clone(), format!("nested more than {MAX_DEPTH} levels deep")));
        }
        self.stack.push(Frame { start: range.start, end: range.end, flow, anchor, collection });
        Ok(None)
    }

    fn close(&mut self, range: &Range<usize>) -> Result<Option<Built>, ManifestError> {
        let Some(frame) = self.stack.pop() else { return Ok(None) };
        let whole = frame.start..if frame.flow { range.end } else { frame.end };
        let (shape, value) = match frame.collection {
            Collection::List { items, values } => {
                (Shape::List { flow: frame.flow, items }, Value::List(List::from(values)))
            }
            Collection::Map { mut entries, mut values, mut keys, merges, .. } => {
                // What is there already stays; of several merges the first counts.
                for merge in &merges {
                    let (Shape::Map { entries: more, .. }, Value::Map(map)) = (&merge.node.shape, &merge.value) else {
                        continue;
                    };
                    for entry in more {
                        if let Some(value) = map.get(&entry.key)
                            && keys.insert(Arc::clone(&entry.key))
                        {
                            values.insert(Arc::clone(&entry.key), value.clone());
                            entries.push(entry.clone());
                        }
                    }
                }
                (Shape::Map { flow: frame.flow, entries }, Value::Map(values.build()))
            }
        };
        let size = 1 + match &shape {
            Shape::Scalar(_) => 0,
            Shape::List { items, .. } => items.iter().map(|node| node.size).sum(),
            Shape::Map { entries, .. } => entries.iter().map(|entry| entry.node.size).sum::<usize>(),
        };
        let built = Built { node: Arc::new(Node { range: whole.clone(), shape, size }), value };
        if frame.anchor != 0 {
            self.anchors.insert(frame.anchor, built.clone());
        }
        self.finish(built, whole, false)
    }

    /// Puts a node where it belongs; returns it if it is a document. `range` is where it stands, which for an alias is not
    /// where its text is.
    fn finish(&mut self, built: Built, range: Range<usize>, alias: bool) -> Result<Option<Built>, ManifestError> {
        let text = self.text;
        let Some(frame) = self.stack.last_mut() else { return Ok(Some(built)) };
        frame.end = frame.end.max(if alias { range.end } else { built.node.range.end.max(range.start) });
        match &mut frame.collection {
            Collection::List { items, values } => {
                items.push(built.node);
                values.push(built.value);
            }
            Collection::Map { entries, values, key, merges, .. } => match key.take() {
                None => return Err(fail(text, range, "a key must be a scalar")),
                Some((name, key_range)) if &*name == "<<" => match (&built.node.shape, &built.value) {
                    (Shape::Map { .. }, _) => merges.push(built),
                    (Shape::List { items, .. }, Value::List(list)) => merges.extend(
                        items
                            .iter()
                            .zip(list.as_slice())
                            .map(|(node, value)| Built { node: Arc::clone(node), value: value.clone() }),
                    ),
                    _ => return Err(fail(text, key_range, "`<<` merges maps")),
                },
                Some((name, key_range)) => {
                    values.insert(Arc::clone(&name), built.value);
                    entries.push(Entry { key: name, key_range, node: built.node });
                }
            },
        }
        Ok(None)
    }
}

fn trimmed(text: &str, range: &Range<usize>) -> Range<usize> {
    let part = text.get(range.clone()).unwrap_or_default();
    range.start..range.start + part.trim_end().len()
}
