//! OpenAPI v3 as authors and CRDs write it -> [`Structural`], by the structural rules of Kubernetes, every problem at once.
//!
//! Absent: which values fit (validate), whether rules compile (rules).
mod invariants;
mod keywords;

use std::sync::Arc;

use cel::{
    Value,
    value::{Key, Map},
};

use crate::engine::{
    diagnostic::{Diagnostic, FieldPath, Place, Severity},
    schema::{MAX_DEPTH, Structural, admit, field_error::Reason, structural::Properties, validate},
};

/// An object's whole schema.
pub(super) fn root(schema: &Value, path: &FieldPath) -> (Option<Structural>, Vec<Diagnostic>) {
    read(schema, path, Level::Root)
}

/// The schema of any value.
pub(super) fn part(schema: &Value, path: &FieldPath) -> (Option<Structural>, Vec<Diagnostic>) {
    read(schema, path, Level::Item)
}

fn read(schema: &Value, path: &FieldPath, level: Level) -> (Option<Structural>, Vec<Diagnostic>) {
    let (structural, found) = partly(schema, path, level);
    let broken = found.iter().any(|d| d.severity == Severity::Error);
    (structural.filter(|_| !broken), found)
}

/// An object's schema even if it has errors: what could be read of it, so that what stands on it can be checked too.
pub(super) fn root_partly(schema: &Value, path: &FieldPath) -> (Option<Structural>, Vec<Diagnostic>) {
    partly(schema, path, Level::Root)
}

fn partly(schema: &Value, path: &FieldPath, level: Level) -> (Option<Structural>, Vec<Diagnostic>) {
    let mut reader = Reader::default();
    let structural = reader.schema(schema, path, level, 0);
    (structural, reader.found)
}

/// Where a schema stands; some rules differ.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    /// The whole object.
    Root,
    /// `items`.
    Item,
    /// A property or the values of a map.
    Field,
    /// Within `allOf`, `anyOf`, `oneOf` or `not`: value validations only.
    Nested,
}

#[derive(Default)]
struct Reader {
    found: Vec<Diagnostic>,
}

impl Reader {
    fn schema(&mut self, schema: &Value, path: &FieldPath, level: Level, depth: usize) -> Option<Structural> {
        let Value::Map(map) = schema else {
            self.error(path, format!("must be a schema, not {}", describe(schema)));
            return None;
        };
        if depth > MAX_DEPTH {
            self.error(path, format!("nests deeper than {MAX_DEPTH} levels"));
            return None;
        }
        let before = self.found.len();
        let mut out = Structural::default();
        for (key, value) in map.iter() {
            match key {
                Key::String(name) => self.keyword(&mut out, map, name, value, &Spot { path, level, depth }),
                _ => self.error(path, "keys of a schema must be strings"),
            }
        }
        invariants::check(self, &out, path, level);
        // What is wrong here may have been a field's declaration: whoever names one is not told that there is none.
        let is_here = |d: &Diagnostic| {
            let steps = d.path.steps();
            steps.starts_with(path.steps()) && steps.len() <= path.steps().len() + 1 && d.severity == Severity::Error
        };
        if self.found.iter().skip(before).any(is_here) {
            out.preserve_unknown_fields = true;
        }
        // A default can only be judged by a schema that is right.
        if self.found.iter().skip(before).all(|d| d.severity != Severity::Error) {
            invariants::check_default(self, &out, path);
        }
        Some(out)
    }

    fn child(&mut self, schema: &Value, path: &FieldPath, level: Level, at: &Spot<'_>) -> Option<Arc<Structural>> {
        let level = if at.level == Level::Nested { Level::Nested } else { level };
        self.schema(schema, path, level, at.depth + 1).map(Arc::new)
    }

    fn properties(&mut self, value: &Value, at: &Spot<'_>) -> Properties {
        let path = at.path.field("properties");
        let Some(map) = self.map(value, &path) else { return Properties::default() };
        let mut entries = Vec::with_capacity(map.len());
        for (key, value) in map.iter() {
            let Key::String(name) = key else {
                self.error(&path, "names of properties must be strings");
                continue;
            };
            if let Some(schema) = self.child(value, &path.key(name), Level::Field, at) {
                entries.push((name.clone(), schema));
            }
        }
        entries.into_iter().collect()
    }

    fn schemas(&mut self, value: &Value, name: &str, at: &Spot<'_>) -> Vec<Arc<Structural>> {
        let path = at.path.field(name);
        let Some(list) = self.list(value, &path) else { return Vec::new() };
        let nested = Spot { level: Level::Nested, ..*at };
        let read = |(i, value)| self.child(value, &path.index(i), Level::Nested, &nested);
        list.iter().enumerate().filter_map(read).collect()
    }

    fn error(&mut self, path: &FieldPath, message: impl Into<String>) {
        self.found.push(Diagnostic::error(path.clone(), message));
    }

    fn key_error(&mut self, path: &FieldPath, message: impl Into<String>, help: Option<String>) {
        let error = Diagnostic::error(path.clone(), message).at(Place::Key);
        self.found.push(Diagnostic { help, ..error });
    }

    fn map<'v>(&mut self, value: &'v Value, path: &FieldPath) -> Option<&'v Map> {
        match value {
            Value::Map(map) => Some(map),
            other => self.wrong(path, "an object", other),
        }
    }

    fn list<'v>(&mut self, value: &'v Value, path: &FieldPath) -> Option<&'v [Value]> {
        match value {
            Value::List(list) => Some(list.as_slice()),
            other => self.wrong(path, "a list", other),
        }
    }

    fn text(&mut self, value: &Value, path: &FieldPath) -> Option<Arc<str>> {
        match value {
            Value::String(text) => Some(text.clone()),
            other => self.wrong(path, "a string", other),
        }
    }

    fn texts(&mut self, value: &Value, path: &FieldPath) -> Vec<Arc<str>> {
        let list = self.list(value, path).unwrap_or_default();
        list.iter().enumerate().filter_map(|(i, value)| self.text(value, &path.index(i))).collect()
    }

    fn flag(&mut self, value: &Value, path: &FieldPath) -> bool {
        match value {
            Value::Bool(flag) => *flag,
            other => self.wrong(path, "true or false", other).unwrap_or(false),
        }
    }

    fn number(&mut self, value: &Value, path: &FieldPath) -> Option<f64> {
        match value {
            #[expect(clippy::cast_precision_loss, reason = "limits are doubles, as in JSON")]
            Value::Int(number) => Some(*number as f64),
            Value::Double(number) => Some(*number),
            other => self.wrong(path, "a number", other),
        }
    }

    fn count(&mut self, value: &Value, path: &FieldPath) -> Option<u64> {
        match value {
            Value::Int(number) if *number >= 0 => u64::try_from(*number).ok(),
            other => self.wrong(path, "an integer of at least 0", other),
        }
    }

    fn wrong<T>(&mut self, path: &FieldPath, expected: &str, got: &Value) -> Option<T> {
        self.error(path, format!("must be {expected}, not {}", describe(got)));
        None
    }
}

/// Where a keyword stands.
#[derive(Clone, Copy)]
struct Spot<'a> {
    path: &'a FieldPath,
    level: Level,
    depth: usize,
}

/// A value in a message.
pub(super) fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Map(_) => "an object".to_owned(),
        Value::List(_) => "a list".to_owned(),
        other => format!("`{}`", super::json::to_json(other)),
    }
}

/// The nearest of the names, if it is near.
pub(super) fn suggestion<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let near = known.into_iter().map(|k| (strsim::damerau_levenshtein(&name.to_lowercase(), &k.to_lowercase()), k));
    let (distance, nearest) = near.min()?;
    let letters = name.chars().count();
    (distance <= 1 + letters / 4 && distance < letters).then(|| format!("did you mean `{nearest}`?"))
}

/// A default as it would be filled in, or what is wrong with it: it holds nothing that would be pruned, and it fits.
pub(super) fn default_value(schema: &Structural, value: &Value) -> Result<Value, Vec<String>> {
    let (pruned, unknown) = admit::prune(schema, value.clone());
    let filled = admit::default(schema, pruned).map_err(|error| vec![error.to_string()])?;
    let path = FieldPath::root().field("default");
    let errors = validate(schema, &filled, &path);
    // Of a value of the wrong type only that is said.
    let is_mistyped = errors.iter().any(|e| e.reason == Reason::TypeInvalid);
    let told = errors.into_iter().filter(|e| e.reason == Reason::TypeInvalid || !is_mistyped);
    let misfits = told.map(|error| {
        let message = error.message.strip_prefix("Invalid value: ").unwrap_or(&error.message);
        let mut message = message.replace(&format!("{} in body ", error.field), "");
        if error.reason == Reason::TypeInvalid
            && let Some((found, wanted)) = message.split_once(": must be of type ")
        {
            let wanted = wanted.split(':').next().unwrap_or_default();
            message = format!("it is of type {}, and must be of type {wanted}", found.trim_matches('"'));
        }
        match error.field.strip_prefix("default.") {
            Some(field) => format!("does not fit: `{field}`: {message}"),
            None => format!("does not fit: {message}"),
        }
    });
    let unknown = unknown.into_iter().map(|field| format!("holds `{field}`, which the schema does not know"));
    let wrong: Vec<String> = unknown.chain(misfits).collect();
    if wrong.is_empty() { Ok(filled) } else { Err(wrong) }
}
