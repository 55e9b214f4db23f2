//! Stored kinds: those that CustomResourceDefinitions declare.
//!
//! Absent: Kubernetes' own kinds (builtin).
use std::{
    fmt,
    sync::{Arc, LazyLock},
};

use cel::Value;

use super::{Column, Names, StoredKind, version_order};
use crate::{
    engine::{
        diagnostic::{Diagnostic, FieldPath},
        kinds::Kind,
        schema::{Structural, metadata::whole},
    },
    storage::lower::{Field, columns},
};

/// A served version of a stored kind.
pub struct StoredVersion {
    /// `v1`
    pub name: Arc<str>,
    /// Columns of tables beside the name; empty: name and age.
    pub columns: Arc<[Column]>,
    kind: LazyLock<Arc<Kind>, Box<dyn FnOnce() -> Arc<Kind> + Send>>,
}

impl StoredVersion {
    /// A version whose kind is made when it is first asked for.
    pub fn new(name: &str, columns: Arc<[Column]>, kind: impl FnOnce() -> Arc<Kind> + Send + 'static) -> StoredVersion {
        StoredVersion { name: name.into(), columns, kind: LazyLock::new(Box::new(kind)) }
    }

    /// What expressions know of it.
    pub fn kind(&self) -> &Arc<Kind> {
        &self.kind
    }

    /// The schema of whole objects, metadata included.
    pub fn schema(&self) -> &Arc<Structural> {
        &self.kind.schema
    }
}

impl fmt::Debug for StoredVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredVersion")
            .field("name", &self.name)
            .field("columns", &self.columns)
            .finish_non_exhaustive()
    }
}

/// The kind that a CustomResourceDefinition declares, and what is wrong with it. A version whose schema is not right holds
/// anything.
pub fn custom(document: &Value) -> (Option<StoredKind>, Vec<Diagnostic>) {
    let mut diagnostics = vec![];
    let root = Field::root(document);
    let kind = read(&root, &mut diagnostics);
    if kind.is_none() && diagnostics.is_empty() {
        let message = "a CustomResourceDefinition needs `group`, `names.kind`, `names.plural` and a served version";
        diagnostics.push(Diagnostic::error(FieldPath::root().field("spec"), message));
    }
    (kind, diagnostics)
}

fn read(root: &Field<'_>, diagnostics: &mut Vec<Diagnostic>) -> Option<StoredKind> {
    let spec = root.get("spec")?;
    let group = spec.text("group")?;
    let fields = spec.get("names")?;
    let (kind, plural) = (fields.text("kind")?, fields.text("plural")?);
    let name = root.get("metadata").and_then(|metadata| metadata.text("name")).unwrap_or_default();
    if *name != *format!("{plural}.{group}") {
        let message = format!("must be spec.names.plural+\".\"+spec.group: `{plural}.{group}`");
        diagnostics.push(Diagnostic::error(FieldPath::root().field("metadata").field("name"), message));
    }
    let namespaced = spec.text("scope").as_deref() != Some("Cluster");
    let mut versions = vec![];
    for version in spec.items("versions") {
        let Some(name) = version.text("name") else { continue };
        if version.flag("served") == Some(false) {
            continue;
        }
        let schema = version.get("schema").and_then(|schema| schema.get("openAPIV3Schema"));
        let schema = schema.and_then(|schema| {
            let (structural, found) = Structural::from_openapi(schema.value, &schema.path);
            diagnostics.extend(found);
            structural
        });
        let known = Arc::new(Kind {
            group: Arc::clone(&group),
            version: Arc::clone(&name),
            kind: Arc::clone(&kind),
            plural: Arc::clone(&plural),
            namespaced,
            schema: Arc::new(whole(&schema.unwrap_or_else(Structural::anything))),
        });
        let columns = columns(&version.items("additionalPrinterColumns"), diagnostics);
        versions.push(Arc::new(StoredVersion::new(&name, columns, move || known)));
    }
    versions.sort_by(|a, b| version_order(&a.name, &b.name));
    if versions.is_empty() {
        return None;
    }
    Some(StoredKind {
        names: Names {
            list_kind: fields.text("listKind").unwrap_or_else(|| format!("{kind}List").into()),
            singular: fields.text("singular").unwrap_or_else(|| kind.to_lowercase().into()),
            short_names: fields.texts("shortNames"),
            categories: fields.texts("categories"),
            kind,
            plural,
        },
        group,
        namespaced,
        versions,
    })
}
