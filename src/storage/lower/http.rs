//! HTTP calls -> the engine's definition.
//!
//! Absent: whether a policy allows them (compile, egress).
use super::field::Field;
use crate::{
    engine::{
        definition::{Format, Http, Select},
        diagnostic::{Diagnostic, Place},
    },
    storage::lower::field,
};

/// Lowers the call of a source.
pub(super) fn source(field: &Field<'_>, diagnostics: &mut Vec<Diagnostic>) -> Option<Http> {
    let texts = |name: &str| {
        let entries = field.get(name).map(|map| map.entries()).unwrap_or_default();
        entries.into_iter().filter_map(|(name, value)| Some((name, value.own_text()?))).collect()
    };
    let select = match (field.text("select"), field.get("selectAll")) {
        (Some(_), Some(all)) => {
            let message = "at most one of `select` and `selectAll` may be set, and both are";
            diagnostics.push(Diagnostic::error(all.path, message).at(Place::Key));
            return None;
        }
        (Some(path), None) => Some(Select::One(path)),
        (None, all) => all.and_then(|all: field::Field<'_>| all.own_text()).map(Select::All),
    };
    Some(Http {
        egress_policy: field.text("egressPolicy")?,
        method: field.text("method").unwrap_or_else(|| "GET".into()),
        url: field.text("url")?,
        query: texts("query"),
        headers: texts("headers"),
        body: field.get("body").map(|body| body.value.clone()),
        format: match field.text("format").as_deref() {
            Some("JsonLines") => Format::JsonLines,
            Some("Text") => Format::Text,
            _ => Format::Json,
        },
        select,
        schema: field.get("schema").map(|schema| schema.value.clone()),
        optional: field.flag("optional").unwrap_or(false),
        ttl_seconds: field.number("ttlSeconds"),
    })
}
