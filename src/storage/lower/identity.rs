//! The names, group and scope of an EphemeralSchema, checked as those of a CustomResourceDefinition are.
//!
//! Absent: names taken by others (catalog).
use std::{collections::BTreeSet, sync::Arc};

use cel::Value;

use super::field::Field;
use crate::{
    api,
    engine::{
        diagnostic::{Diagnostic, FieldPath},
        names,
    },
    storage::catalog::Names,
};

/// Approves a group of Kubernetes' own domains, as for a CustomResourceDefinition.
const APPROVED: &str = "api-approved.kubernetes.io";

/// Who a kind is. What is missing is empty, which is reported.
pub(super) struct Identity {
    pub(super) name: Arc<str>,
    pub(super) group: Arc<str>,
    pub(super) namespaced: bool,
    pub(super) names: Names,
}

/// Reads it. `told` are the fields of which something is said already.
pub(super) fn identity(
    root: &Field<'_>,
    spec: &Field<'_>,
    told: &BTreeSet<FieldPath>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Identity {
    let before = diagnostics.len();
    let group_field = spec.get("group").filter(|field| !told.contains(&field.path));
    let group = group_field.as_ref().and_then(Field::own_text).unwrap_or_default();
    if let Some(field) = &group_field {
        check_group(root, field, &group, diagnostics);
    }
    let names = spec.get("names");
    let text = |name: &str| names.as_ref().and_then(|names| names.text(name));
    let texts = |name: &str| names.as_ref().map(|names| names.texts(name)).unwrap_or_default();
    let (kind, plural) = (text("kind").unwrap_or_default(), text("plural").unwrap_or_default());
    let mut is_sure = !group.is_empty() && !plural.is_empty() && diagnostics.len() == before;
    if let Some(names) = &names {
        check_kind(names, "kind", diagnostics);
        check_kind(names, "listKind", diagnostics);
        for single in ["plural", "singular"] {
            let before = diagnostics.len();
            names.get(single).into_iter().for_each(|field| check_label(&field, diagnostics));
            is_sure &= single != "plural" || diagnostics.len() == before;
        }
        for list in ["shortNames", "categories"] {
            names.items(list).iter().for_each(|field| check_label(field, diagnostics));
        }
    }
    let list_kind = text("listKind").unwrap_or_else(|| format!("{kind}List").into());
    if list_kind == kind {
        let path = spec.path.field("names").field("listKind");
        diagnostics.push(Diagnostic::error(path, "kind and listKind may not be the same"));
    }

    let expected = format!("{plural}.{group}");
    let path = root.path.field("metadata").field("name");
    let name = root.get("metadata").and_then(|metadata| metadata.text("name"));
    // What the name should be is known only if its parts are right.
    if is_sure && name.as_deref() != Some(&*expected) && !told.contains(&path) {
        let message = match &name {
            Some(name) => format!("the name must be `<plural>.<group>`, but it is `{name}`"),
            None => "missing field `name`".to_owned(),
        };
        diagnostics.push(Diagnostic::error(path, message).help(format!("name it `{expected}`")));
    }
    Identity {
        name: expected.into(),
        namespaced: spec.text("scope").as_deref() != Some("Cluster"),
        names: Names {
            singular: text("singular").unwrap_or_else(|| kind.to_lowercase().into()),
            list_kind,
            kind,
            plural,
            short_names: texts("shortNames"),
            categories: texts("categories"),
        },
        group,
    }
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
