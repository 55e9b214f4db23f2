//! What a version is compiled against: the kinds that expressions read, the policies that calls need.
//!
//! Absent: where they are known from (workspace CRDs, Kubernetes' own kinds, EgressPolicies: storage).
use std::sync::Arc;

use crate::engine::{schema::Structural, url::Origin};

/// A kind of workspace objects.
#[derive(Clone, Debug)]
pub struct Kind {
    /// `apps`; empty for core.
    pub group: Arc<str>,
    /// `v1`
    pub version: Arc<str>,
    /// `Deployment`
    pub kind: Arc<str>,
    /// `deployments`
    pub plural: Arc<str>,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// Types of its objects, metadata included.
    pub schema: Arc<Structural>,
}

/// Looks kinds up.
pub trait Kinds {
    /// The kind of `apiVersion` and `kind`.
    fn kind(&self, api_version: &str, kind: &str) -> Option<Arc<Kind>>;

    /// All (apiVersion, kind) for suggestions.
    fn names(&self) -> Vec<(String, Arc<str>)>;
}

/// Knows the administrator's policies.
pub trait Policies {
    /// Whether a call's literal part is allowed. The final URL is checked again before it is called.
    ///
    /// # Errors
    /// Why no URL that begins so can be.
    fn check(&self, call: &Literal<'_>) -> Result<(), Refusal>;
}

/// What of a call is known before it is made.
#[derive(Clone, Copy, Debug)]
pub struct Literal<'a> {
    /// The EgressPolicy.
    pub policy: &'a str,
    /// Scheme, host and port.
    pub origin: &'a Origin,
    /// `GET`
    pub method: &'a str,
    /// The literal segments that the path begins with: `/api/v1`.
    pub path: &'a str,
    /// Whether that is all of the path.
    pub whole: bool,
}

/// Why a call is not allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// One lowercase fragment.
    pub message: String,
    /// What to do.
    pub help: String,
    /// Whether it is about the policy: that there is none, or that it is not for this schema. Otherwise it is about the URL.
    pub of_policy: bool,
}

/// No policies: nothing may be called.
#[derive(Clone, Copy, Debug)]
pub struct NoPolicies;

impl Policies for NoPolicies {
    fn check(&self, call: &Literal<'_>) -> Result<(), Refusal> {
        Err(Refusal {
            message: format!("there is no EgressPolicy `{}`", call.policy),
            help: "nothing leaves without one: ask the administrator".to_owned(),
            of_policy: true,
        })
    }
}
