//! HTTP calls -> the engine's definition.
//!
//! Absent: whether a policy allows them (compile, egress).
use super::field::Field;
use crate::{
    engine::{
        definition::{Format, Http, NextPage, Pagination, Select},
        diagnostic::{Diagnostic, Place},
    },
    storage::{egress::pages::FieldPath, lower::field},
};

/// The most pages that are read where the author gives no number.
const MAX_PAGES: u32 = 10;

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
            None
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
        pagination: match field.get("pagination") {
            Some(pagination) => Some(pages(&pagination, diagnostics)?),
            None => None,
        },
        optional: field.flag("optional").unwrap_or(false),
        ttl_seconds: field.number("ttlSeconds"),
    })
}

fn pages(field: &Field<'_>, diagnostics: &mut Vec<Diagnostic>) -> Option<Pagination> {
    let ways = ["link", "url", "cursor", "offset"].map(|way| field.get(way).map(|at| (way, at)));
    let ways: Vec<_> = ways.into_iter().flatten().collect();
    let [(way, at)] = ways.as_slice() else {
        let message =
            format!("exactly one of `link`, `url`, `cursor` and `offset` must be set, and {} are", ways.len());
        diagnostics.push(Diagnostic::error(field.path.clone(), message).at(Place::Key));
        return None;
    };
    let mut members = |of: &Field<'_>, name: &str| {
        let text = of.text(name)?;
        if FieldPath::parse(&text).is_some() {
            return Some(text);
        }
        let message = format!("`{text}` is no path of members");
        let help = "members with dots between them: `data.items`";
        diagnostics.push(Diagnostic::error(of.path.field(name), message).help(help));
        None
    };
    let next = match *way {
        "link" => NextPage::Link,
        "url" => NextPage::Url(members(at, "path")?),
        "cursor" => NextPage::Cursor { path: members(at, "path")?, parameter: at.text("parameter")? },
        _ => {
            let pages = at.text("count").as_deref() == Some("Pages");
            NextPage::Offset {
                parameter: at.text("parameter")?,
                pages,
                first: at.number("first").unwrap_or(u32::from(pages)),
                page_size: at.number("pageSize"),
            }
        }
    };
    let items = match field.get("items") {
        Some(_) => members(field, "items")?,
        None => "".into(),
    };
    Some(Pagination { next, items, max_pages: field.number("maxPages").unwrap_or(MAX_PAGES) })
}
