//! Answers of several pages: where the next one is, and how their items become one list.
//!
//! Absent: asking for them (channel).
use std::sync::Arc;

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
