//! HTTP calls of sources and effects. Doc comments are what `kubectl explain` shows.
//!
//! Absent: what allows them (egress_policy).
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// An HTTP call that an EgressPolicy allows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "!has(self.select) || !has(self.selectAll)", "message": "at most one of select and selectAll may be set"}
]))]
pub struct Http {
    /// The EgressPolicy that allows the call and holds its credentials.
    #[schemars(length(min = 1, max = 253))]
    pub egress_policy: String,
    /// Template of the URL, without a query.
    #[schemars(length(min = 1, max = 2048))]
    pub url: String,
    /// The method. Sources default to GET, effects to POST.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<Method>,
    /// Query parameters, templates; values are percent-encoded.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub query: BTreeMap<String, String>,
    /// Header fields, templates. Credentials belong to the EgressPolicy.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Template of the body, sent as JSON; a string is sent as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "free")]
    pub body: Option<serde_json::Value>,
    /// The format of the answer's body. Defaults to Json.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<BodyFormat>,
    /// What of a JSON answer to take, a JSONPath (RFC 9535) of exactly one value. Without it the whole body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub select: Option<String>,
    /// What of a JSON answer to take, a JSONPath (RFC 9535) whose values become a list. Instead of `select`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub select_all: Option<String>,
    /// How further pages are found; their items become one list, of which `select` takes. Without it the answer is one page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pagination: Option<Pagination>,
    /// An answer of 404 is an absent optional value instead of an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub optional: Option<bool>,
    /// OpenAPI schema of the selected value; without it the value is dyn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "free_object")]
    pub schema: Option<serde_json::Value>,
    /// For how long an answer may be reused, unless its header fields say less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 86400))]
    pub ttl_seconds: Option<u32>,
}

/// How further pages are found: by exactly one of link, url, cursor and offset. Each page is at the scheme, host and port of
/// the first, and the EgressPolicy has to allow it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "[has(self.link), has(self.url), has(self.cursor), has(self.offset)].filter(x, x).size() == 1", "message": "exactly one of link, url, cursor and offset must be set"}
]))]
pub struct Pagination {
    /// The next page is at the `Link` header field with `rel=next` (RFC 8288).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<LinkPages>,
    /// The next page is at the URL in a field of the body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<UrlPages>,
    /// A field of the body is sent back as a query parameter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<CursorPages>,
    /// A query parameter counts items or pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<OffsetPages>,
    /// Where the list of items is in a page: members with dots between them, as in `data.items`. Without it the page is the
    /// list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<String>,
    /// How many pages are read at most; if there are more, the source fails. Defaults to 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub max_pages: Option<u32>,
}

/// Pages by the `Link` header field.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LinkPages {}

/// Pages by a URL in the body.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UrlPages {
    /// Where the URL is: members with dots between them. Absent, null or empty on the last page.
    #[schemars(length(min = 1, max = 256))]
    pub path: String,
}

/// Pages by a cursor in the body.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CursorPages {
    /// Where the cursor is: members with dots between them. Absent, null or empty on the last page.
    #[schemars(length(min = 1, max = 256))]
    pub path: String,
    /// The query parameter that it is sent as.
    #[schemars(length(min = 1, max = 256))]
    pub parameter: String,
}

/// Pages by counting.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OffsetPages {
    /// The query parameter that counts.
    #[schemars(length(min = 1, max = 256))]
    pub parameter: String,
    /// What it counts. Defaults to Items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<PageCount>,
    /// What the first page counts as. Defaults to 0 for items and 1 for pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1000000000))]
    pub first: Option<u32>,
    /// How many items a whole page has: a page with fewer is the last. Without it the first empty page is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100000))]
    pub page_size: Option<u32>,
}

/// What an offset counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum PageCount {
    /// The items so far.
    #[default]
    Items,
    /// The pages so far.
    Pages,
}

/// The format of an HTTP body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum BodyFormat {
    /// One JSON value.
    #[default]
    Json,
    /// A JSON value a line, read as a list.
    JsonLines,
    /// A string.
    Text,
}

/// An HTTP method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    /// Reads.
    Get,
    /// Reads the header fields only.
    Head,
    /// Sends a body.
    Post,
    /// Replaces.
    Put,
    /// Changes.
    Patch,
    /// Deletes.
    Delete,
}

/// Any object.
pub(super) fn free_object(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "object", "x-kubernetes-preserve-unknown-fields": true})
}

fn free(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"x-kubernetes-preserve-unknown-fields": true})
}
