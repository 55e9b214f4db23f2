//! The names, group and scope of an EphemeralSchema, checked as those of a CustomResourceDefinition are.
//!
//! Absent: names taken by others (catalog).
use std::sync::Arc;

use cel::Value;

use super::field::Field;
use crate::{
    api,
    engine::diagnostic::Diagnostic,
    storage::{catalog::Names, names},
};

/// Approves a group of Kubernetes' own domains, as for a CustomResourceDefinition.
const APPROVED: &str = "api-approved.kubernetes.io";

/// Who a kind is.
pub(super) struct Identity {
    pub(super) name: Arc<str>,
    pub(super) group: Arc<str>,
    pub(super) namespaced: bool,
    pub(super) names: Names,
}

/// Reads it; `None` if what it is known by is missing, which is reported already.
pub(super) fn identity(root: &Field<'_>, spec: &Field<'_>, diagnostics: &mut Vec<Diagnostic>) -> Option<Identity> {
    let group_field = spec.get("group")?;
    let group = group_field.own_text()?;
    let fields = spec.get("names")?;
    let kind = fields.text("kind")?;
    let plural = fields.text("plural")?;

    check_group(root, &group_field, &group, diagnostics);
    check_kind(&fields, "kind", diagnostics);
    check_kind(&fields, "listKind", diagnostics);
    for single in ["plural", "singular"] {
        fields.get(single).into_iter().for_each(|field| check_label(&field, diagnostics));
    }
    for list in ["shortNames", "categories"] {
        fields.items(list).iter().for_each(|field| check_label(field, diagnostics));
    }
    let list_kind = fields.text("listKind").unwrap_or_else(|| format!("{kind}List").into());
    if list_kind == kind {
        let path = fields.path.field("listKind");
        diagnostics.push(Diagnostic::error(path, "kind and listKind may not be the same"));
    }

    let expected = format!("{plural}.{group}");
    let metadata = root.get("metadata");
    let name = metadata.as_ref().and_then(|metadata| metadata.text("name"));
    if name.as_deref() != Some(&*expected) {
        let path = root.path.field("metadata").field("name");
        let message = match &name {
            Some(name) => format!("the name must be `<plural>.<group>`, but it is `{name}`"),
            None => "missing field `name`".to_owned(),
        };
        diagnostics.push(Diagnostic::error(path, message).help(format!("name it `{expected}`")));
    }
    Some(Identity {
        name: expected.into(),
        namespaced: spec.text("scope").as_deref() == Some("Namespaced"),
        names: Names {
            singular: fields.text("singular").unwrap_or_else(|| kind.to_lowercase().into()),
            list_kind,
            kind,
            plural,
            short_names: fields.texts("shortNames"),
            categories: fields.texts("categories"),
        },
        group,
    })
}

fn check_group(root: &Field<'_>, field: &Field<'_>, group: &str, diagnostics: &mut Vec<Diagnostic>) {
    let mut problem = |message: String| diagnostics.push(Diagnostic::error(field.path.clone(), message));
    let problems = names::dns1123_subdomain(group);
    if !problems.is_empty() {
        problem(format!("invalid group `{group}`: {}", problems.join("; ")));
    } else if !group.contains('.') {
        problem("should be a domain with at least one dot".to_owned());
    } else if group == api::GROUP || group.ends_with(&format!(".{}", api::GROUP)) {
        problem(format!("`{}` is Celandine's own group", api::GROUP));
    } else if ["k8s.io", "kubernetes.io"].iter().any(|own| group == *own || group.ends_with(&format!(".{own}"))) {
        let annotations = root.get("metadata").and_then(|metadata| metadata.get("annotations"));
        let approved = annotations.is_some_and(|annotations| {
            matches!(annotations.get(APPROVED).map(|f| f.value), Some(Value::String(url)) if !url.is_empty())
        });
        if !approved {
            problem(format!("protected groups must have approval annotation `{APPROVED}`"));
        }
    }
}

/// CamelCase: what Kubernetes asks of the lower-case form, and an upper-case letter to begin with.
fn check_kind(fields: &Field<'_>, name: &str, diagnostics: &mut Vec<Diagnostic>) {
    let Some(field) = fields.get(name) else { return };
    let Some(kind) = field.own_text() else { return };
    let problems = names::dns1035_label(&kind.to_lowercase());
    let message = if !problems.is_empty() {
        format!("invalid {name} `{kind}`: may have mixed case, but should otherwise match: {}", problems.join("; "))
    } else if !kind.starts_with(|c: char| c.is_ascii_uppercase()) {
        format!("invalid {name} `{kind}`: kinds are written in CamelCase")
    } else {
        return;
    };
    diagnostics.push(Diagnostic::error(field.path, message));
}

pub(super) fn check_label(field: &Field<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Some(text) = field.own_text() else { return };
    let problems = names::dns1035_label(&text);
    if !problems.is_empty() {
        diagnostics
            .push(Diagnostic::error(field.path.clone(), format!("invalid name `{text}`: {}", problems.join("; "))));
    }
}
