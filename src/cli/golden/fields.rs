//! The fields of the files of golden tests: strictly read, mistakes shown where they stand.
//!
//! Absent: which fields there are (settings, fixture).
use std::{path::Path, sync::Arc};

use cel::{
    Value,
    value::{Key, Map},
};

use super::GoldenError;
use crate::{
    engine::diagnostic::{Diagnostic, FieldPath, Place},
    storage::manifest::{self, Color, Document},
};

/// The fields of a document or of a part of it, read one by one.
#[derive(Clone, Debug)]
pub(super) struct Fields {
    document: Arc<Document>,
    path: FieldPath,
    map: Map,
}

impl Fields {
    /// The only document of a file; `None` without the file, or where it says nothing.
    pub(super) fn read(path: &Path) -> Result<Option<Fields>, GoldenError> {
        if !path.exists() {
            return Ok(None);
        }
        let mut documents = Fields::documents(path)?;
        match (documents.pop(), documents.is_empty()) {
            (only, true) => Ok(only),
            _ => Err(GoldenError::Broken(format!("{}: expected one document", path.display()))),
        }
    }

    /// All documents of a file that say something.
    pub(super) fn documents(path: &Path) -> Result<Vec<Fields>, GoldenError> {
        let text = std::fs::read_to_string(path).map_err(GoldenError::file(path))?;
        let manifest = manifest::parse(&path.display().to_string(), text);
        if let Some(error) = manifest.errors.first() {
            return Err(GoldenError::Broken(manifest::render_error(error, &manifest, Color::Never)));
        }
        let documents = manifest.documents.into_iter().filter(|document| document.value != Value::Null);
        let fields = |document: Document| match &document.value {
            Value::Map(map) => Ok(Fields { map: map.clone(), path: FieldPath::root(), document: Arc::new(document) }),
            _ => Err(GoldenError::Broken(format!("{}: expected fields", path.display()))),
        };
        documents.map(fields).collect()
    }

    pub(super) fn only(&self, known: &[&str]) -> Result<(), GoldenError> {
        let mut diagnostics = vec![];
        for name in self.names() {
            if !known.contains(&&*name) {
                let near = known.iter().min_by_key(|known| strsim::damerau_levenshtein(known, &name));
                let near = near.filter(|near| strsim::damerau_levenshtein(near, &name) <= (name.len() / 3).max(1));
                let help = match near {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("there are {}", known.join(", ")),
                };
                let path = self.path.field(&name);
                diagnostics.push(Diagnostic::error(path, format!("unknown field `{name}`")).at(Place::Key).help(help));
            }
        }
        if diagnostics.is_empty() { Ok(()) } else { Err(self.broken(&diagnostics)) }
    }

    pub(super) fn names(&self) -> Vec<Arc<str>> {
        let name = |(key, _): (&Key, &Value)| match key {
            Key::String(name) => Some(Arc::clone(name)),
            _ => None,
        };
        self.map.iter().filter_map(name).collect()
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.map.get(name).is_some()
    }

    pub(super) fn value(&self, name: &str) -> Option<&Value> {
        self.map.get(name)
    }

    /// The fields of a field.
    pub(super) fn fields(&self, name: &str) -> Result<Option<Fields>, GoldenError> {
        match self.map.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Map(map)) => {
                let (document, path) = (Arc::clone(&self.document), self.path.field(name));
                Ok(Some(Fields { document, path, map: map.clone() }))
            }
            Some(_) => Err(self.wrong(name, "expected fields")),
        }
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<String>, GoldenError> {
        match self.map.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.to_string())),
            Some(_) => Err(self.wrong(name, "expected a string")),
        }
    }

    /// A string or a list of strings.
    pub(super) fn texts(&self, name: &str) -> Result<Vec<String>, GoldenError> {
        self.scalars(name, |value| match value {
            Value::String(text) => Some(text.to_string()),
            _ => None,
        })
    }

    /// A string, number or bool, or a list of these, as texts.
    pub(super) fn printed(&self, name: &str) -> Result<Vec<String>, GoldenError> {
        self.scalars(name, |value| match value {
            Value::String(text) => Some(text.to_string()),
            Value::Int(_) | Value::Double(_) | Value::Bool(_) => Some(value.to_string()),
            _ => None,
        })
    }

    fn scalars(&self, name: &str, text: fn(&Value) -> Option<String>) -> Result<Vec<String>, GoldenError> {
        let one = |value: &Value| text(value).ok_or_else(|| self.wrong(name, "expected strings"));
        match self.map.get(name) {
            None | Some(Value::Null) => Ok(vec![]),
            Some(Value::List(items)) => items.as_slice().iter().map(one).collect(),
            Some(value) => Ok(vec![text(value).ok_or_else(|| self.wrong(name, "expected a string"))?]),
        }
    }

    pub(super) fn flag(&self, name: &str) -> Result<bool, GoldenError> {
        match self.map.get(name) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(self.wrong(name, "expected true or false")),
        }
    }

    /// A mistake in a field.
    pub(super) fn wrong(&self, name: &str, message: &str) -> GoldenError {
        self.broken(&[Diagnostic::error(self.path.field(name), message)])
    }

    /// A mistake in these fields together.
    pub(super) fn wrong_here(&self, message: &str) -> GoldenError {
        self.broken(&[Diagnostic::error(self.path.clone(), message)])
    }

    fn broken(&self, diagnostics: &[Diagnostic]) -> GoldenError {
        GoldenError::Broken(manifest::render(diagnostics, &self.document, Color::Never))
    }
}
