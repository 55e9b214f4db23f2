//! What is wrong with a definition, by field path and place within the field's text.
//!
//! Absent: files, lines, carets (storage knows the author's text).
use std::{fmt, ops::Range, sync::Arc};

/// A path of fields and indexes from the root of a document: `spec.versions[0].name`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldPath(Vec<Step>);

/// One step of a [`FieldPath`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Step {
    /// A field of an object.
    Field(Arc<str>),
    /// An entry of a map, printed `[key]` by Kubernetes' `field.Path.Key`.
    Key(Arc<str>),
    /// An element of a list.
    Index(usize),
}

impl FieldPath {
    /// The document itself.
    pub fn root() -> FieldPath {
        FieldPath::default()
    }

    /// This path and a field.
    #[must_use]
    pub fn field(&self, name: &str) -> FieldPath {
        self.push(Step::Field(name.into()))
    }

    /// This path and a map's key.
    #[must_use]
    pub fn key(&self, key: &str) -> FieldPath {
        self.push(Step::Key(key.into()))
    }

    /// This path and an index.
    #[must_use]
    pub fn index(&self, index: usize) -> FieldPath {
        self.push(Step::Index(index))
    }

    /// This path, then `rest`.
    #[must_use]
    pub fn join(&self, rest: &FieldPath) -> FieldPath {
        FieldPath(self.0.iter().chain(&rest.0).cloned().collect())
    }

    /// Its steps.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    fn push(&self, step: Step) -> FieldPath {
        FieldPath(self.0.iter().cloned().chain([step]).collect())
    }
}

/// As Kubernetes prints field paths: `spec.list[0].name`, `spec.labels[a]`.
impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.0.iter().enumerate() {
            match step {
                Step::Field(name) if i == 0 => f.write_str(name)?,
                Step::Field(name) => write!(f, ".{name}")?,
                Step::Key(key) => write!(f, "[{key}]")?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Does not stop the plan.
    Warning,
    /// There is no plan.
    Error,
}

/// One static finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// How bad.
    pub severity: Severity,
    /// The field.
    pub path: FieldPath,
    /// What of the field to underline.
    pub place: Place,
    /// One lowercase fragment, the author's words in back-quotes.
    pub message: String,
    /// The remedy where it is known.
    pub help: Option<String>,
}

/// The part of a field that a diagnostic is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Its value.
    Value,
    /// Its name.
    Key,
    /// Bytes of its string value, as decoded (escapes and indentation gone).
    Within(Range<usize>),
}

impl Diagnostic {
    /// An error about a field's value.
    pub fn error(path: FieldPath, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Error, path, place: Place::Value, message: message.into(), help: None }
    }

    /// A warning about a field's value.
    pub fn warning(path: FieldPath, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(path, message) }
    }

    /// The same about another part of the field.
    #[must_use]
    pub fn at(self, place: Place) -> Diagnostic {
        Diagnostic { place, ..self }
    }

    /// The same with a remedy.
    #[must_use]
    pub fn help(self, help: impl Into<String>) -> Diagnostic {
        Diagnostic { help: Some(help.into()), ..self }
    }
}
