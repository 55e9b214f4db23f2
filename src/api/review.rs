//! EphemeralReview: what a webhook is sent and what it answers, modelled on AdmissionReview.
//!
//! Absent: the call itself (storage). It is no stored kind, so it has no CRD.
use serde::{Deserialize, Serialize};

use crate::api::{Status, UserInfo};

/// `apiVersion: celandine.dev/v1alpha1, kind: EphemeralReview`; sent with `request`, answered with `response`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EphemeralReview {
    /// `celandine.dev/v1alpha1`
    pub api_version: String,
    /// `EphemeralReview`
    pub kind: String,
    /// What is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<ReviewRequest>,
    /// The answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<ReviewResponse>,
}

/// A create of an ephemeral resource.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReviewRequest {
    /// Identifies the request; the response repeats it.
    pub uid: String,
    /// The kind being created.
    pub kind: ReviewKind,
    /// The resource being created.
    pub resource: ReviewResource,
    /// The name, which may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The namespace; empty for cluster-scoped kinds.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// The workspace of the request.
    pub workspace: String,
    /// `CREATE`
    pub operation: String,
    /// Nothing may be changed.
    pub dry_run: bool,
    /// Who asks.
    pub user_info: UserInfo,
    /// What is being created, defaulted.
    pub object: serde_json::Value,
}

/// A group, version and kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewKind {
    /// `storage.acme.example`
    pub group: String,
    /// `v1`
    pub version: String,
    /// `BucketInfo`
    pub kind: String,
}

/// A group, version and resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewResource {
    /// `storage.acme.example`
    pub group: String,
    /// `v1`
    pub version: String,
    /// `bucketinfos`
    pub resource: String,
}

/// The answer of a webhook.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReviewResponse {
    /// The uid of the request.
    pub uid: String,
    /// Whether the create is answered; otherwise `error` tells why not.
    pub allowed: bool,
    /// The `status` of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<serde_json::Value>,
    /// Why it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Status>,
    /// Shown to the caller as warnings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}
