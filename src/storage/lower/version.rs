//! One version of an EphemeralSchema -> the engine's definition.
//!
//! Absent: what the expressions mean (engine).
use std::{collections::BTreeSet, sync::Arc, time::Duration};

use cel::Value;

use super::{
    LoweredVersion,
    field::Field,
    http,
    identity::{self, Identity},
};
use crate::{
    api::ephemeral_schema::{ColumnType, RatePer},
    engine::{
        definition::{Definition, ExternalRef, Read, ReadAs, SchemaForm, Source, Validation, Variable},
        diagnostic::{Diagnostic, FieldPath, Place},
    },
    storage::catalog::{Column, Limits, Rate},
};

/// Lowers a version. Whatever is wrong with it is reported and keeps its place, so that the rest is still compiled, by the right
/// paths and names.
pub(super) fn version(
    field: &Field<'_>,
    identity: &Identity,
    told: &BTreeSet<FieldPath>,
    diagnostics: &mut Vec<Diagnostic>,
) -> LoweredVersion {
    if let Some(name) = field.get("name") {
        identity::check_label(&name, diagnostics);
    }
    let name = field.text("name").unwrap_or_default();
    let deprecation = deprecation(field, identity, &name, diagnostics);
    let columns = columns(&field.items("additionalPrinterColumns"), diagnostics);
    let schema = schema(field, told, diagnostics);
    if let Some((name @ "webhook", webhook)) = one_of(field, ["projection", "webhook"], told, diagnostics) {
        unserved(&webhook, name, diagnostics);
    }
    let projection = field.get("projection");
    if let Some(projection) = &projection {
        for effect in projection.items("effects") {
            unserved(&effect, "effects", diagnostics);
        }
    }
    let sources = projection.iter().flat_map(|p| p.items("sources")).map(|s| source(&s, told, diagnostics)).collect();
    let text = |field: &Field<'_>, name| field.text(name).unwrap_or_default();
    let variables = projection
        .iter()
        .flat_map(|p| p.items("variables"))
        .map(|v| Variable { name: text(&v, "name"), expression: text(&v, "expression") });
    let validations = projection.iter().flat_map(|p| p.items("validations")).map(|v| Validation {
        expression: text(&v, "expression"),
        message: v.text("message"),
        message_expression: v.text("messageExpression"),
        reason: v.text("reason"),
        field_path: v.text("fieldPath"),
    });
    let cache = field.get("cache").and_then(|cache| cache.number("ttlSeconds")).unwrap_or(0);
    LoweredVersion {
        path: field.path.clone(),
        served: field.flag("served").unwrap_or(true),
        deprecation,
        columns,
        cache: Duration::from_secs(u64::from(cache)),
        limits: limits(field),
        definition: Definition {
            group: Arc::clone(&identity.group),
            version: Arc::clone(&name),
            kind: Arc::clone(&identity.names.kind),
            namespaced: identity.namespaced,
            schema,
            sources,
            variables: variables.collect(),
            validations: validations.collect(),
            status: projection.as_ref().and_then(|p| p.get("status")).map(|status| status.value.clone()),
        },
        name,
    }
}

/// The one of two fields that is there. Both and none are mistakes.
fn one_of<'a>(
    field: &Field<'a>,
    [a, b]: [&'static str; 2],
    told: &BTreeSet<FieldPath>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<(&'static str, Field<'a>)> {
    match (field.get(a), field.get(b)) {
        (Some(found), None) => Some((a, found)),
        (None, Some(found)) => Some((b, found)),
        (Some(_), Some(second)) => {
            let message = format!("exactly one of `{a}` and `{b}` must be set, and both are");
            diagnostics.push(Diagnostic::error(second.path, message).at(Place::Key));
            None
        }
        // One is there under a misspelt name.
        (None, None) if told.contains(&field.path.field(a)) || told.contains(&field.path.field(b)) => None,
        (None, None) => {
            let message = format!("exactly one of `{a}` and `{b}` must be set, and none is");
            diagnostics.push(Diagnostic::error(field.path.clone(), message));
            None
        }
    }
}

/// What the API has and the engine has not yet: said, never ignored.
fn unserved(field: &Field<'_>, what: &str, diagnostics: &mut Vec<Diagnostic>) {
    diagnostics
        .push(Diagnostic::error(field.path.clone(), format!("`{what}` cannot be served by this version of Celandine")));
}

fn schema(version: &Field<'_>, told: &BTreeSet<FieldPath>, diagnostics: &mut Vec<Diagnostic>) -> SchemaForm {
    let form = version.get("schema").and_then(|s| one_of(&s, ["simple", "openAPIV3Schema"], told, diagnostics));
    match form {
        // Of the wrong type, which is reported.
        Some((_, form)) if told.contains(&form.path) => SchemaForm::Wrong,
        Some(("simple", form)) => SchemaForm::Simple(form.value.clone()),
        Some((_, form)) => SchemaForm::OpenApi(form.value.clone()),
        None => SchemaForm::Wrong,
    }
}

fn source(field: &Field<'_>, told: &BTreeSet<FieldPath>, diagnostics: &mut Vec<Diagnostic>) -> Source {
    let before = diagnostics.len();
    let read = match one_of(field, ["externalRef", "http"], told, diagnostics) {
        Some(("externalRef", reference)) => external_ref(&reference, told, diagnostics),
        Some((_, call)) => http::source(&call, diagnostics).map_or(Read::Wrong, Read::Http),
        None => Read::Wrong,
    };
    let mut for_each = vec![];
    for dimension in field.items("forEach") {
        let entries = dimension.entries();
        if entries.len() != 1 && !told.contains(&dimension.path) {
            let message = "each dimension is a map of one variable to its list";
            diagnostics.push(Diagnostic::error(dimension.path, message));
        }
        for_each.extend(entries.into_iter().next().map(|(name, list)| (name, list.own_text().unwrap_or_default())));
    }
    Source {
        id: field.text("id").unwrap_or_default(),
        include_when: field.texts("includeWhen"),
        for_each,
        read,
        uncertain: diagnostics.len() > before || is_type_told(&field.path, told),
    }
}

/// Whether something is said already of what decides a source's type.
fn is_type_told(source: &FieldPath, told: &BTreeSet<FieldPath>) -> bool {
    let reference = source.field("externalRef");
    let metadata = reference.field("metadata");
    let [optional, selector, name] = [reference.field("optional"), reference.field("selector"), metadata.field("name")];
    let whole = [source.field("includeWhen"), source.field("forEach")];
    let alone = [source.field("http"), reference, metadata, optional, selector, name];
    let is_within = |path: &FieldPath| whole.iter().any(|whole| path.steps().starts_with(whole.steps()));
    told.iter().any(|path| alone.contains(path) || is_within(path))
}

fn external_ref(field: &Field<'_>, told: &BTreeSet<FieldPath>, diagnostics: &mut Vec<Diagnostic>) -> Read {
    let metadata = field.get("metadata");
    let name = metadata.as_ref().and_then(|m| m.text("name"));
    let mut selector = field.get("selector");
    match (&name, &selector) {
        (Some(_), Some(found)) => {
            let message = "exactly one of `metadata.name` and `selector` must be set, and both are";
            diagnostics.push(Diagnostic::error(found.path.clone(), message).at(Place::Key));
            selector = None;
        }
        (None, None) => {
            let misspelt = ["metadata.name", "selector", "metadata"];
            let misspelt = misspelt.map(|name| name.split('.').fold(field.path.clone(), |path, name| path.field(name)));
            if !misspelt.iter().any(|path| told.contains(path)) {
                let message = "exactly one of `metadata.name` and `selector` must be set, and none is";
                let help = "a name gives one object, a selector a list; `selector: {}` selects all";
                diagnostics.push(Diagnostic::error(field.path.clone(), message).help(help));
            }
            return Read::Wrong;
        }
        (Some(_), None) | (None, Some(_)) => {}
    }
    let (Some(api_version), Some(kind)) = (field.text("apiVersion"), field.text("kind")) else { return Read::Wrong };
    Read::ExternalRef(ExternalRef {
        api_version,
        kind,
        name,
        namespace: metadata.as_ref().and_then(|m| m.text("namespace")),
        selector: selector.map(|selector| selector.value.clone()),
        optional: field.flag("optional").unwrap_or(false),
        read_as: match field.text("readAs").as_deref() {
            Some("Provider") => ReadAs::Provider,
            _ => ReadAs::Consumer,
        },
    })
}

fn deprecation(
    field: &Field<'_>,
    identity: &Identity,
    version: &str,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Arc<str>> {
    let warning = field.get("deprecationWarning");
    if field.flag("deprecated") != Some(true) {
        if let Some(warning) = warning {
            let message = "can only be set for deprecated versions";
            diagnostics.push(Diagnostic::error(warning.path, message).at(Place::Key));
        }
        return None;
    }
    let default = || format!("{}/{version} {} is deprecated", identity.group, identity.names.kind).into();
    Some(warning.and_then(|warning| warning.own_text()).unwrap_or_else(default))
}

/// Columns as CRDs and ephemeral schemas declare them.
pub(crate) fn columns(fields: &[Field<'_>], diagnostics: &mut Vec<Diagnostic>) -> Arc<[Column]> {
    let column = |field: &Field<'_>| {
        let json_path = field.text("jsonPath")?;
        if !json_path.starts_with(['.', '[']) && !json_path.starts_with("{.") {
            let message = format!("`{json_path}` is no JSONPath");
            let help = "it begins with a dot: `.status.phase`";
            diagnostics.push(Diagnostic::error(field.path.field("jsonPath"), message).help(help));
        }
        Some(Column {
            name: field.text("name")?,
            kind: match field.text("type").as_deref() {
                Some("integer") => ColumnType::Integer,
                Some("number") => ColumnType::Number,
                Some("boolean") => ColumnType::Boolean,
                Some("date") => ColumnType::Date,
                _ => ColumnType::String,
            },
            format: field.text("format").unwrap_or_default(),
            description: field.text("description").unwrap_or_default(),
            json_path,
            priority: match field.get("priority").map(|priority| priority.value) {
                Some(Value::Int(priority)) => i32::try_from(*priority).unwrap_or(0),
                _ => 0,
            },
        })
    };
    fields.iter().filter_map(column).collect()
}

fn limits(version: &Field<'_>) -> Limits {
    let default = Limits::default();
    let Some(limits) = version.get("limits") else { return default };
    let seconds = |seconds: u32| Duration::from_secs(u64::from(seconds));
    let rate = limits.get("rate").and_then(|rate| {
        let requests = rate.number("requests")?;
        Some(Rate {
            requests,
            per: seconds(rate.number("perSeconds").unwrap_or(1)),
            burst: rate.number("burst").unwrap_or(requests),
            shared: match rate.text("per").as_deref() {
                Some("Workspace") => RatePer::Workspace,
                Some("Schema") => RatePer::Schema,
                _ => RatePer::User,
            },
        })
    });
    Limits { timeout: limits.number("timeoutSeconds").map_or(default.timeout, seconds), rate }
}
