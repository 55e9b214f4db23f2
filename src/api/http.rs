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
