//! One version of an EphemeralSchema -> the engine's definition.
//!
//! Absent: what the expressions mean (engine).
use std::{sync::Arc, time::Duration};

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
        diagnostic::{Diagnostic, Place},
    },
    storage::catalog::{Column, Limits, Rate},
};

/// Lowers a version; `None` if what it cannot do without is missing, which is reported.
pub(super) fn version(
    field: &Field<'_>,
    identity: &Identity,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<LoweredVersion> {
    let name_field = field.get("name")?;
    identity::check_label(&name_field, diagnostics);
    let name = name_field.own_text()?;
    let deprecation = deprecation(field, identity, &name, diagnostics);
    let columns = columns(&field.items("additionalPrinterColumns"), diagnostics);
    let schema = schema(field, diagnostics);
    let projection = match one_of(field, ["projection", "webhook"], diagnostics) {
        Some((_, projection)) if projection.path == field.path.field("projection") => Some(projection),
        Some((name, webhook)) => {
            unserved(&webhook, name, diagnostics);
            None
        }
        None => None,
    };
    if let Some(projection) = &projection {
        for effect in projection.items("effects") {
            unserved(&effect, "effects", diagnostics);
        }
    }
    let sources = projection.iter().flat_map(|p| p.items("sources")).filter_map(|s| source(&s, diagnostics)).collect();
    let variables = projection
        .iter()
        .flat_map(|p| p.items("variables"))
        .filter_map(|v| Some(Variable { name: v.text("name")?, expression: v.text("expression")? }));
    let validations = projection.iter().flat_map(|p| p.items("validations")).filter_map(|v| {
        Some(Validation {
            expression: v.text("expression")?,
            message: v.text("message"),
            message_expression: v.text("messageExpression"),
            reason: v.text("reason"),
            field_path: v.text("fieldPath"),
        })
    });
    let cache = field.get("cache").and_then(|cache| cache.number("ttlSeconds")).unwrap_or(0);
    Some(LoweredVersion {
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
            schema: schema?,
            sources,
            variables: variables.collect(),
            validations: validations.collect(),
            status: projection.as_ref().and_then(|p| p.get("status")).map(|status| status.value.clone()),
        },
        name,
    })
}

/// The one of two fields that is there. Both and none are mistakes.
fn one_of<'a>(
    field: &Field<'a>,
    [a, b]: [&'static str; 2],
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

fn schema(version: &Field<'_>, diagnostics: &mut Vec<Diagnostic>) -> Option<SchemaForm> {
    let schema = version.get("schema")?;
    let (name, form) = one_of(&schema, ["simple", "openAPIV3Schema"], diagnostics)?;
    let value = form.value.clone();
    Some(if name == "simple" { SchemaForm::Simple(value) } else { SchemaForm::OpenApi(value) })
}

fn source(field: &Field<'_>, diagnostics: &mut Vec<Diagnostic>) -> Option<Source> {
    let (what, read) = one_of(field, ["externalRef", "http"], diagnostics)?;
    let read = match what {
        "http" => Read::Http(http::source(&read, diagnostics)?),
        _ => Read::ExternalRef(external_ref(&read, diagnostics)?),
    };
    let for_each = field.items("forEach").into_iter().filter_map(|dimension| {
        let [(variable, list)] = <[_; 1]>::try_from(dimension.entries()).ok().or_else(|| {
            let message = "each dimension is a map of one variable to its list";
            diagnostics.push(Diagnostic::error(dimension.path.clone(), message));
            None
        })?;
        Some((variable, list.own_text()?))
    });
    let for_each = for_each.collect();
    Some(Source { id: field.text("id")?, include_when: field.texts("includeWhen"), for_each, read })
}

fn external_ref(field: &Field<'_>, diagnostics: &mut Vec<Diagnostic>) -> Option<ExternalRef> {
    let metadata = field.get("metadata");
    let name = metadata.as_ref().and_then(|m| m.text("name"));
    let selector = field.get("selector");
    match (&name, &selector) {
        (Some(_), Some(selector)) => {
            let message = "exactly one of `metadata.name` and `selector` must be set, and both are";
            diagnostics.push(Diagnostic::error(selector.path.clone(), message).at(Place::Key));
            return None;
        }
        (None, None) => {
            let message = "exactly one of `metadata.name` and `selector` must be set, and none is";
            let help = "a name gives one object, a selector a list; `selector: {}` selects all";
            diagnostics.push(Diagnostic::error(field.path.clone(), message).help(help));
            return None;
        }
        (Some(_), None) | (None, Some(_)) => {}
    }
    Some(ExternalRef {
        api_version: field.text("apiVersion")?,
        kind: field.text("kind")?,
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
