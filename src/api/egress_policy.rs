//! EgressPolicy: the administrator's allowlist entry. Doc comments are what `kubectl explain` shows.
//!
//! Absent: the enforcement (storage).
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::{ephemeral_schema::conditions, http::Method};

/// EgressPolicySpec allows HTTP calls to some hosts, with the credentials for them, within limits.
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "celandine.dev",
    version = "v1alpha1",
    kind = "EgressPolicy",
    plural = "egresspolicies",
    singular = "egresspolicy",
    shortname = "egp",
    category = "celandine",
    status = "EgressPolicyStatus",
    doc = "EgressPolicy allows ephemeral schemas to make HTTP calls to some hosts, with the credentials for them, within limits.",
    printcolumn = r#"{"name":"Host","type":"string","jsonPath":".spec.endpoints[0].host"}"#,
    printcolumn = r#"{"name":"Accepted","type":"string","jsonPath":".status.conditions[?(@.type==\"Accepted\")].status"}"#,
    printcolumn = r#"{"name":"Age","type":"date","jsonPath":".metadata.creationTimestamp"}"#
)]
#[serde(rename_all = "camelCase")]
pub struct EgressPolicySpec {
    /// Where calls may go.
    #[schemars(length(min = 1, max = 64))]
    pub endpoints: Vec<Endpoint>,
    /// Which addresses the hosts may resolve to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub networks: Option<Networks>,
    /// How servers are verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    /// The credentials of the calls. Neither authors nor consumers can read them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<Auth>,
    /// Bounds of the calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<EgressLimits>,
    /// Whether calls that may be repeated (GET, HEAD, PUT) are made again when they fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
    /// When calls are given up for a while.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub breaker: Option<Breaker>,
    /// Who may use the policy. Without it nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usable_by: Option<UsableBy>,
}

/// Where calls may go.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Endpoint {
    /// The scheme. Defaults to https.
    #[serde(default)]
    pub scheme: Scheme,
    /// The exact name of the host, or `*.` and a domain for the names directly below it.
    #[schemars(length(min = 1, max = 253))]
    pub host: String,
    /// The port. Defaults to that of the scheme.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65535))]
    pub port: Option<u16>,
    /// What the path must begin with, one of these; empty allows every path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub path_prefixes: Vec<String>,
    /// The methods that are allowed. Empty allows GET and HEAD.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub methods: Vec<Method>,
}

/// The scheme of a URL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// Encrypted and authenticated.
    #[default]
    Https,
    /// Neither; credentials are sent readable.
    Http,
}

/// Which addresses hosts may resolve to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Networks {
    /// CIDRs beyond the public internet. Empty allows global unicast addresses only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub allow: Vec<String>,
}

/// How servers are verified.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tls {
    /// Certificates of authorities in PEM, instead of the public ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_bundle: Option<String>,
}

/// The credentials of the calls: at most one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "[has(self.bearer), has(self.basic), has(self.header), has(self.oauth2)].filter(x, x).size() == 1", "message": "exactly one of bearer, basic, header and oauth2 must be set"}
]))]
pub struct Auth {
    /// `Authorization: Bearer <token>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bearer: Option<Bearer>,
    /// `Authorization: Basic <user:password>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basic: Option<Basic>,
    /// A header field of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<HeaderAuth>,
    /// A token got by OAuth 2.0 client credentials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oauth2: Option<OAuth2>,
}

/// A bearer token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Bearer {
    /// Where the token is.
    pub secret_ref: SecretRef,
}

/// A user and password.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Basic {
    /// The user.
    pub username: String,
    /// Where the password is.
    pub secret_ref: SecretRef,
}

/// A header field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HeaderAuth {
    /// The name of the header field.
    #[schemars(length(min = 1, max = 128))]
    pub name: String,
    /// Where its value is.
    pub secret_ref: SecretRef,
}

/// OAuth 2.0 client credentials.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OAuth2 {
    /// The token endpoint; it must be one of the endpoints of this policy or of `https`.
    #[schemars(length(min = 1, max = 2048))]
    pub token_url: String,
    /// The client.
    pub client_id: String,
    /// Where the client's secret is.
    pub secret_ref: SecretRef,
    /// What is asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub scopes: Vec<String>,
}

/// A key of a Secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SecretRef {
    /// The namespace of the Secret.
    #[schemars(length(min = 1, max = 63))]
    pub namespace: String,
    /// The name of the Secret.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// The key in its data.
    #[schemars(length(min = 1, max = 253))]
    pub key: String,
}

/// Bounds of the calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EgressLimits {
    /// The deadline of one call. Defaults to 5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 30))]
    pub timeout_seconds: Option<u32>,
    /// The longest body that is read. Defaults to 1 MiB, at most 8 MiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 8388608))]
    pub max_response_bytes: Option<u32>,
    /// How many calls a second all schemas together may make.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000000))]
    pub requests_per_second: Option<u32>,
    /// How many calls may be made at once. Defaults to `requestsPerSecond`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000000))]
    pub burst: Option<u32>,
    /// How many calls may be unanswered at a time. Defaults to 20.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10000))]
    pub max_in_flight: Option<u32>,
}

/// Whether calls that may be repeated (GET, HEAD, PUT) are made again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Retry {
    /// How many calls are made at most, the first included.
    #[schemars(range(min = 1, max = 5))]
    pub attempts: u32,
}

/// When calls are given up for a while.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Breaker {
    /// After how many failures in a row.
    #[schemars(range(min = 1, max = 1000))]
    pub failures: u32,
    /// For how long.
    #[schemars(range(min = 1, max = 3600))]
    pub open_seconds: u32,
}

/// Who may use a policy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UsableBy {
    /// Names of EphemeralSchemas; `*` stands for any text.
    #[schemars(length(max = 64))]
    pub schemas: Vec<String>,
    /// Paths of workspaces; `*` stands for any text.
    #[schemars(length(max = 64))]
    pub workspaces: Vec<String>,
}

/// EgressPolicyStatus is what was found of the policy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EgressPolicyStatus {
    /// Accepted: the policy is right and counts. Calls of one that is not are refused, also where it was right before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "conditions")]
    pub conditions: Vec<Condition>,
}
