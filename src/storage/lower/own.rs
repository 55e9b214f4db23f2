//! Documents of Celandine's own kinds against the schemas of these kinds: unknown fields with suggestions, wrong types, missing
//! fields, bounds.
//!
//! Absent: what goes beyond a schema (identity, version).
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use cel::{Value, value::Key};

use crate::{
    api,
    engine::{
        diagnostic::{Diagnostic, FieldPath, Place},
        schema::{FieldError, MAX_DEPTH, Structural, admit, field_error::Reason, metadata::whole, validate},
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

/// A document of one of Celandine's own kinds with its defaults, and what is wrong with its form.
pub fn check(document: &Value) -> (Value, Vec<Diagnostic>) {
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
        return (document.clone(), vec![Diagnostic::error(FieldPath::root().field("kind"), message)]);
    };
    let mut unknown = Unknown::default();
    unknown.walk(schema, document, &FieldPath::root(), 0);
    let Unknown { mut diagnostics, meant } = unknown;
    let (admitted, _) = admit::admit(schema, document.clone());
    let errors = validate(schema, &admitted, &FieldPath::root());
    // What is there under a misspelt name is not missing as well.
    diagnostics.extend(errors.into_iter().map(diagnostic).filter(|diagnostic| !meant.contains(&diagnostic.path)));
    (admitted, diagnostics)
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
            Value::Map(map) => {
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
        let nearest = known
            .iter()
            .map(|candidate| (strsim::damerau_levenshtein(&name.to_lowercase(), &candidate.to_lowercase()), candidate))
            .min()
            // A third of the letters may be wrong, as rustc has it.
            .filter(|(distance, _)| *distance <= (name.chars().count() / 3).max(1));
        self.diagnostics.push(match nearest {
            Some((_, candidate)) => {
                self.meant.insert(parent.field(candidate));
                diagnostic.help(format!("did you mean `{candidate}`?"))
            }
            None if known.is_empty() => diagnostic,
            None => diagnostic.help(format!("known fields are `{}`", known.join("`, `"))),
        });
    }
}

/// An answer of kube-apiserver's as a diagnostic: the place is told by the caret, so the words need not repeat it.
fn diagnostic(error: FieldError) -> Diagnostic {
    let path = path(&error.field);
    if error.reason == Reason::Required {
        let name = error.field.rsplit('.').next().unwrap_or_default().to_owned();
        return Diagnostic::error(path, format!("missing field `{name}`"));
    }
    let detail = error.message.replace(&format!("{} in body ", error.field), "");
    let mut chars = detail.chars();
    let message = chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect());
    Diagnostic::error(path, message)
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
