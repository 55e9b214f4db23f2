//! Documents of Celandine's own kinds against the schemas of these kinds: unknown fields with suggestions, wrong types, missing
//! fields, bounds.
//!
//! Absent: how it is said (words), what goes beyond a schema (identity, version).
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use cel::{Value, value::Key};

use super::words;
use crate::{
    api,
    engine::{
        diagnostic::{Diagnostic, FieldPath, Place},
        schema::{MAX_DEPTH, Structural, admit, metadata::whole, structural::SchemaType, validate},
    },
    storage::objects::GroupVersionKind,
};

/// Schemas of whole objects of Celandine's own kinds, by kind, as CRDs have them.
static OWN: LazyLock<BTreeMap<String, Structural>> = LazyLock::new(|| {
    let schemas = own_kinds().filter_map(|(kind, crd)| {
        let schema = crd.pointer("/spec/versions/0/schema/openAPIV3Schema").cloned()?;
        let schema: Value = serde_json::from_value(schema).ok()?;
        Some((kind.kind.to_string(), whole(&Structural::from_openapi(&schema, &FieldPath::root()).0?)))
    });
    schemas.collect()
});

/// Celandine's own kinds and their CRDs.
pub fn own_kinds() -> impl Iterator<Item = (GroupVersionKind, serde_json::Value)> {
    api::crds::documents().into_iter().filter_map(|(_, crd)| {
        let kind = crd.pointer("/spec/names/kind")?.as_str()?;
        Some((GroupVersionKind::new(api::GROUP, api::VERSION, kind), crd))
    })
}

/// A document of one of Celandine's own kinds, looked over.
pub(super) struct Looked {
    /// With its defaults.
    pub(super) value: Value,
    /// What is wrong with its form.
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The fields that these are about, and those that were meant by misspelt ones.
    pub(super) told: BTreeSet<FieldPath>,
}

/// A document of one of Celandine's own kinds with its defaults, and what is wrong with its form.
pub fn check(document: &Value) -> (Value, Vec<Diagnostic>) {
    let Looked { value, diagnostics, .. } = look(document);
    (value, diagnostics)
}

pub(super) fn look(document: &Value) -> Looked {
    let kind = match document {
        Value::Map(map) => map.get("kind"),
        _ => None,
    };
    let kind = match kind {
        Some(Value::String(kind)) => &**kind,
        _ => "",
    };
    let Some(schema) = OWN.get(kind) else {
        let message = format!("`{kind}` is no kind of `{}`", api::GROUP);
        let diagnostic = Diagnostic::error(FieldPath::root().field("kind"), message);
        let diagnostic = match nearest(kind, OWN.keys().map(String::as_str)) {
            Some(meant) => diagnostic.help(format!("did you mean `{meant}`?")),
            None => diagnostic,
        };
        return Looked { value: document.clone(), diagnostics: vec![diagnostic], told: BTreeSet::new() };
    };
    let mut unknown = Unknown::default();
    let expected = format!("{}/{}", api::GROUP, api::VERSION);
    if let Value::Map(map) = document
        && let Some(Value::String(version)) = map.get("apiVersion")
        && **version != *expected
    {
        let path = FieldPath::root().field("apiVersion");
        let diagnostic =
            Diagnostic::error(path, format!("`{version}` is not served")).help(format!("write `{expected}`"));
        unknown.diagnostics.push(diagnostic);
    }
    unknown.walk(schema, document, &FieldPath::root(), 0);
    let Unknown { mut diagnostics, meant } = unknown;
    let (admitted, _) = admit::admit(schema, document.clone());
    let errors = validate(schema, &admitted, &FieldPath::root());
    // What is there under a misspelt name is not missing as well.
    let errors = errors.iter().map(|error| words::diagnostic(schema, &admitted, error));
    diagnostics.extend(errors.filter(|diagnostic| !meant.contains(&diagnostic.path)));
    let told = meant.into_iter().chain(diagnostics.iter().map(|d| d.path.clone())).collect();
    Looked { value: admitted, diagnostics, told }
}

/// The name that was probably meant: a third of the letters may be wrong, as rustc has it.
pub(super) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .map(|known| (strsim::damerau_levenshtein(&name.to_lowercase(), &known.to_lowercase()), known))
        .min()
        .filter(|(distance, _)| *distance <= (name.chars().count() / 3).max(1))
        .map(|(_, known)| known)
}

/// Fields that a schema does not know.
#[derive(Default)]
struct Unknown {
    diagnostics: Vec<Diagnostic>,
    /// Paths of the fields that were meant.
    meant: BTreeSet<FieldPath>,
}

impl Unknown {
    fn walk(&mut self, schema: &Structural, value: &Value, path: &FieldPath, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        match value {
            // Of a value that is no map at all only that is said.
            Value::Map(map) if schema.ty == Some(SchemaType::Object) || schema.ty.is_none() => {
                for (key, value) in map.iter() {
                    let Key::String(name) = key else { continue };
                    if let Some(field) = schema.field(name) {
                        self.walk(field, value, &path.field(name), depth + 1);
                    } else if !schema.preserve_unknown_fields {
                        self.report(schema, path, name);
                    }
                }
            }
            Value::List(list) => {
                if let Some(items) = &schema.items {
                    for (i, value) in list.as_slice().iter().enumerate() {
                        self.walk(items, value, &path.index(i), depth + 1);
                    }
                }
            }
            _ => {}
        }
    }

    /// An unknown field, with what may have been meant.
    fn report(&mut self, schema: &Structural, parent: &FieldPath, name: &str) {
        let known: Vec<&str> = schema.properties.iter().map(|(name, _)| &**name).collect();
        let diagnostic = Diagnostic::error(parent.field(name), format!("unknown field `{name}`")).at(Place::Key);
        self.diagnostics.push(match nearest(name, known.iter().copied()) {
            Some(candidate) => {
                self.meant.insert(parent.field(candidate));
                diagnostic.help(format!("did you mean `{candidate}`?"))
            }
            None if known.is_empty() => diagnostic,
            None => diagnostic.help(format!("known fields are `{}`", known.join("`, `"))),
        });
    }
}

/// The path that a Status prints: `spec.versions[0].name`, `spec.labels[a]`.
pub(crate) fn path(text: &str) -> FieldPath {
    let mut path = FieldPath::root();
    let mut rest = text;
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('[')
            && let Some((key, after)) = inner.split_once(']')
        {
            path = key.parse().map_or_else(|_| path.key(key), |index| path.index(index));
            rest = after;
        } else {
            let name_start = rest.strip_prefix('.').unwrap_or(rest);
            let end = name_start.find(['.', '[']).unwrap_or(name_start.len());
            let (name, after) = name_start.split_at(end);
            if !name.is_empty() && name != "<nil>" {
                path = path.field(name);
            }
            // A lone dot or bracket is skipped, so that this ends.
            rest = if after.len() == rest.len() { rest.get(1..).unwrap_or_default() } else { after };
        }
    }
    path
}
