//! What users may do in a workspace.
//!
//! Absent: who a user is (server), what a refusal looks like (status).
mod rbac;

use std::sync::Arc;

pub use self::rbac::Rbac;
use crate::{
    api::{UserInfo, user::MASTERS},
    engine::schema::field_error::quote,
    storage::objects::Objects,
};

/// Decides what users may do.
#[derive(Debug)]
pub enum Authorizer {
    /// Everybody may do everything: where someone else has decided already.
    AlwaysAllow,
    /// The Roles, ClusterRoles and bindings among the workspace's objects.
    Rbac(Rbac),
}

/// What someone wants to do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Attributes {
    /// `create`
    pub verb: Arc<str>,
    /// `apps`; empty for core and for paths.
    pub group: Arc<str>,
    /// `v1`
    pub version: Arc<str>,
    /// `deployments`; empty for paths.
    pub resource: Arc<str>,
    /// `status`
    pub subresource: Arc<str>,
    /// Empty for cluster-scoped resources and for all namespaces.
    pub namespace: Arc<str>,
    /// Empty for collections.
    pub name: Arc<str>,
    /// The URL's path, if it is no resource's: `/healthz`.
    pub path: Option<Arc<str>>,
}

/// A decision and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Whether it may be done.
    pub allowed: bool,
    /// For the audit log and for `auth can-i`; may be empty.
    pub reason: Arc<str>,
}

/// What a user may do, for people to read: `SelfSubjectRulesReview`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// On resources.
    pub resources: Vec<ResourceRule>,
    /// On paths.
    pub paths: Vec<PathRule>,
}

/// Verbs on resources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceRule {
    /// `create`
    pub verbs: Vec<Arc<str>>,
    /// `apps`
    pub groups: Vec<Arc<str>>,
    /// `deployments`, `deployments/status`
    pub resources: Vec<Arc<str>>,
    /// Empty: all.
    pub names: Vec<Arc<str>>,
}

/// Verbs on paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathRule {
    /// `get`
    pub verbs: Vec<Arc<str>>,
    /// `/healthz`, `/logs/*`
    pub paths: Vec<Arc<str>>,
}

impl Rules {
    /// Everything.
    pub fn everything() -> Rules {
        let all = || vec![Arc::from("*")];
        Rules {
            resources: vec![ResourceRule { verbs: all(), groups: all(), resources: all(), names: vec![] }],
            paths: vec![PathRule { verbs: all(), paths: all() }],
        }
    }
}

impl Authorizer {
    /// What a user may do in a namespace.
    pub fn rules(&self, user: &UserInfo, namespace: &str) -> Rules {
        match self {
            Authorizer::AlwaysAllow => Rules::everything(),
            Authorizer::Rbac(_) if user.in_group(MASTERS) => Rules::everything(),
            Authorizer::Rbac(rbac) => rbac.rules(user, namespace),
        }
    }

    /// Whether a user may do anything at all. Whoever may not is not told that the workspace is there.
    pub fn knows(&self, user: &UserInfo) -> bool {
        match self {
            Authorizer::AlwaysAllow => true,
            Authorizer::Rbac(_) if user.in_group(MASTERS) => true,
            Authorizer::Rbac(rbac) => rbac.knows(user),
        }
    }

    /// By the RBAC objects of a store.
    pub fn rbac(objects: Arc<Objects>) -> Authorizer {
        Authorizer::Rbac(Rbac::new(objects))
    }

    /// Whether a user may do something. Asynchronous for those who must ask elsewhere.
    pub async fn decide(&self, user: &UserInfo, attributes: &Attributes) -> Decision {
        match self {
            Authorizer::AlwaysAllow => Decision { allowed: true, reason: Arc::default() },
            Authorizer::Rbac(_) if user.in_group(MASTERS) => Decision { allowed: true, reason: Arc::default() },
            Authorizer::Rbac(rbac) => rbac.decide(user, attributes),
        }
    }
}

/// What kube-apiserver says of a refusal, after `pods "x" is forbidden: `.
pub fn refusal(user: &UserInfo, attributes: &Attributes) -> String {
    let name = if user.username.is_empty() { "system:anonymous" } else { &user.username };
    if let Some(path) = &attributes.path {
        return format!("User {} cannot {} path {}", quote(name), attributes.verb, quote(path));
    }
    let resource = if attributes.subresource.is_empty() {
        attributes.resource.to_string()
    } else {
        format!("{}/{}", attributes.resource, attributes.subresource)
    };
    let place = if attributes.namespace.is_empty() {
        "at the cluster scope".to_owned()
    } else {
        format!("in the namespace {}", quote(&attributes.namespace))
    };
    format!(
        "User {} cannot {} resource {} in API group {} {place}",
        quote(name),
        attributes.verb,
        quote(&resource),
        quote(&attributes.group)
    )
}

#[cfg(test)]
mod tests;
