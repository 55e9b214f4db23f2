//! Answers of several pages: where the next one is, and how their items become one list.
//!
//! Absent: asking for them (channel).
use std::{collections::HashSet, sync::Arc};

use cel::Value;

use crate::storage::egress::{
    body::MOST_VALUES,
    cache::Stored,
    error::{EgressError, PagesFault},
    target::Target,
};

/// How further pages are found.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pagination {
    /// Where the next page is.
    pub next: Next,
    /// Where the list of items is in a page; empty: the page is the list.
    pub items: FieldPath,
    /// Pages that are read at most; more are an error, not a shorter list. From 1 to [`MOST_PAGES`].
    pub max_pages: u32,
}

/// The bound of [`Pagination::max_pages`].
pub const MOST_PAGES: u32 = 100;

/// Where the next page is. It is always at the same scheme, host and port, and the policy has to allow it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Next {
    /// At the `Link` header field with `rel=next` (RFC 8288). The last page has none.
    Link,
    /// At the URL in a field of the body. The last page has none, null or an empty text.
    Url {
        /// Where it is.
        path: FieldPath,
    },
    /// Where a cursor in the body leads, sent as a query parameter. The last page has none, null or an empty text.
    Cursor {
        /// Where it is.
        path: FieldPath,
        /// `continue`
        parameter: Arc<str>,
    },
    /// Behind the items so far, or at the next number. The last page has fewer items than the page size, where it is
    /// given, or none.
    Offset {
        /// `offset`, `page`
        parameter: Arc<str>,
        /// What counts.
        count: Count,
        /// What the first page counts as: 0 for offsets, mostly 1 for page numbers. Sent with the first page too.
        first: u64,
        /// Items in a whole page.
        page_size: Option<u32>,
    },
}

/// What an offset counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Count {
    /// Items so far.
    Items,
    /// Pages so far.
    Pages,
}

/// The members that lead to a value: `data.result`, `$.metadata.continue`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FieldPath(Vec<Arc<str>>);

impl FieldPath {
    /// Reads member names with dots between them, with or without `$.` before them. Empty and `$` are the whole value.
    pub fn parse(text: &str) -> Option<FieldPath> {
        let text = text.strip_prefix('$').map_or(text, |rest| rest.strip_prefix('.').unwrap_or(rest));
        if text.is_empty() {
            return Some(FieldPath::default());
        }
        let plain = |member: &str| !member.is_empty() && !member.contains(['[', ']', '*', '$', '\'', '"']);
        text.split('.').all(plain).then(|| FieldPath(text.split('.').map(Into::into).collect()))
    }
}

impl FieldPath {
    /// The value that the members lead to.
    pub(super) fn find<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        self.0.iter().try_fold(value, |value, member| match value {
            Value::Map(map) => map.get(member),
            _ => None,
        })
    }
}

/// Pages of one call, as they come.
#[derive(Debug)]
pub(super) struct Pages<'a> {
    pagination: &'a Pagination,
    /// How many bytes all of them may have.
    limit: usize,
    seen: HashSet<String>,
    items: Vec<Value>,
    bytes: usize,
    values: usize,
    count: u32,
}

impl<'a> Pages<'a> {
    pub(super) fn new(pagination: &'a Pagination, limit: usize) -> Pages<'a> {
        Pages { pagination, limit, seen: HashSet::new(), items: vec![], bytes: 0, values: 0, count: 0 }
    }

    /// The first page of a target.
    pub(super) fn first(&mut self, target: Target) -> Result<Target, EgressError> {
        let target = match &self.pagination.next {
            Next::Offset { parameter, first, .. } => target.with_parameter(parameter, &first.to_string())?,
            Next::Link | Next::Url { .. } | Next::Cursor { .. } => target,
        };
        self.seen.insert(target.to_string());
        Ok(target)
    }

    /// Takes a page of a target; gives the target of the next, which the policy has yet to allow.
    pub(super) fn take(&mut self, target: &Target, stored: &Stored) -> Result<Option<Target>, PagesFault> {
        let Pagination { next, items, max_pages } = self.pagination;
        let value = stored.value();
        self.count += 1;
        self.bytes += stored.body.bytes;
        if self.bytes > self.limit {
            return Err(PagesFault::TooLarge { limit: self.limit });
        }
        self.values += stored.body.values;
        if self.values > MOST_VALUES {
            return Err(PagesFault::Values { limit: MOST_VALUES });
        }
        let Some(Value::List(found)) = items.find(value) else { return Err(PagesFault::Items) };
        self.items.extend(found.iter().cloned());
        let elsewhere = |reference: &str| target.join(reference).map_err(|_| PagesFault::Next);
        let following = match next {
            Next::Link => {
                stored.links.iter().find_map(|link| next_link(link)).map(|link| elsewhere(&link)).transpose()?
            }
            Next::Url { path } => cursor(path, value)?.map(|url| elsewhere(&url)).transpose()?,
            Next::Cursor { path, parameter } => {
                let cursor = cursor(path, value)?;
                cursor
                    .map(|cursor| target.with_parameter(parameter, &cursor))
                    .transpose()
                    .map_err(|_| PagesFault::Next)?
            }
            Next::Offset { parameter, count, first, page_size } => {
                let size = page_size.map_or(1, |size| usize::try_from(size).unwrap_or(usize::MAX));
                let so_far = match count {
                    Count::Items => u64::try_from(self.items.len()).unwrap_or(u64::MAX),
                    Count::Pages => u64::from(self.count),
                };
                let offset = first.saturating_add(so_far).to_string();
                let more = found.len() >= size.max(1);
                more.then(|| target.with_parameter(parameter, &offset)).transpose().map_err(|_| PagesFault::Next)?
            }
        };
        let Some(following) = following else { return Ok(None) };
        if !following.same_origin(target) {
            return Err(PagesFault::Next);
        }
        if self.count >= (*max_pages).clamp(1, MOST_PAGES) {
            return Err(PagesFault::TooMany { limit: (*max_pages).clamp(1, MOST_PAGES) });
        }
        if !self.seen.insert(following.to_string()) {
            return Err(PagesFault::Loop);
        }
        Ok(Some(following))
    }

    /// All items.
    pub(super) fn into_value(self) -> Value {
        Value::List(self.items.into())
    }
}

fn cursor(path: &FieldPath, page: &Value) -> Result<Option<String>, PagesFault> {
    match path.find(page) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.is_empty() => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.to_string())),
        Some(Value::Int(number)) => Ok(Some(number.to_string())),
        Some(_) => Err(PagesFault::Cursor),
    }
}

/// The reference of relation `next` in a `Link` header field (RFC 8288, section 3).
fn next_link(field: &str) -> Option<String> {
    let mut rest = field;
    loop {
        let (_, after) = rest.split_once('<')?;
        let (reference, after) = after.split_once('>')?;
        // A comma outside quotes ends the link.
        let mut quoted = false;
        let end = after.find(|c| {
            quoted ^= c == '"';
            c == ',' && !quoted
        });
        let (parameters, after) = after.split_at(end.unwrap_or(after.len()));
        if parameters.split(';').any(is_rel_next) {
            return Some(reference.trim().to_owned());
        }
        rest = after;
    }
}

fn is_rel_next(parameter: &str) -> bool {
    let Some((name, value)) = parameter.split_once('=') else { return false };
    let mut relations = value.trim().trim_matches('"').split_ascii_whitespace();
    name.trim().eq_ignore_ascii_case("rel") && relations.any(|relation| relation.eq_ignore_ascii_case("next"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_the_next_page_are_found() {
        for (field, want) in [
            (
                "<https://a.example/?page=2>; rel=\"next\", <https://a.example/?page=9>; rel=\"last\"",
                Some("https://a.example/?page=2"),
            ),
            ("</1>; rel=prev, </3>; title=\"a, <b>; rel=next\"; REL=\"last Next\"", Some("/3")),
            ("</1>; rel=prev", None),
            ("</1>; title=\"rel=next\"", None),
            ("no link", None),
            ("", None),
            ("<", None),
        ] {
            assert_eq!(next_link(field).as_deref(), want, "{field}");
        }
    }

    #[test]
    fn field_paths_are_members() {
        let value: Value = serde_json::from_str(r#"{"a": {"b-c": 1}}"#).unwrap();
        assert_eq!(FieldPath::parse("$.a.b-c").unwrap().find(&value), Some(&Value::Int(1)));
        assert_eq!(FieldPath::parse("$").unwrap().find(&value), Some(&value));
        assert_eq!(FieldPath::parse("a.x").unwrap().find(&value), None);
        assert!(["a..b", "a[0]", "$.a.*", ".a"].iter().all(|text| FieldPath::parse(text).is_none()));
    }
}
