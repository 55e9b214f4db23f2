//! Whether a user may do what a request asks for.
//!
//! Absent: how it is decided (storage's authorizer).
use std::sync::Arc;

use serde_json::{Value, json};

use crate::{
    api::{
        Status, UserInfo,
        user::{AUTHENTICATED, MASTERS, UNAUTHENTICATED},
    },
    server::{
        published::Found,
        reply::Failure,
        request_info::{RequestInfo, ResourcePath},
        status,
    },
    storage::{
        authorizer::{Attributes, Decision, PathRule, ResourceRule, Rules, refusal},
        workspace::Workspace,
    },
};

/// Paths that everyone authenticated may read: Kubernetes' ClusterRole `system:discovery`, bound by default.
pub const DISCOVERY: [&str; 11] = [
    "/api",
    "/api/*",
    "/apis",
    "/apis/*",
    "/healthz",
    "/livez",
    "/openapi",
    "/openapi/*",
    "/readyz",
    "/version",
    "/version/",
];

/// Of these, what everyone may read: `system:public-info-viewer`.
const PUBLIC: [&str; 5] = ["/healthz", "/livez", "/readyz", "/version", "/version/"];

/// Reviews that everyone authenticated may create: Kubernetes' ClusterRole `system:basic-user`, bound by default.
pub const BASIC: [(&str, &[&str]); 2] = [
    ("authorization.k8s.io", &["selfsubjectaccessreviews", "selfsubjectrulesreviews"]),
    ("authentication.k8s.io", &["selfsubjectreviews"]),
];

/// Decides, with the roles that Kubernetes binds by default.
pub async fn decide(workspace: &Workspace, user: &UserInfo, attributes: &Attributes) -> Decision {
    if user.in_group(MASTERS) {
        return Decision { allowed: true, reason: Arc::default() };
    }
    let public = attributes.path.as_deref().is_some_and(|p| PUBLIC.contains(&p)) && &*attributes.verb == "get";
    if public && user.in_group(UNAUTHENTICATED) {
        let reason = "RBAC: allowed by ClusterRoleBinding \"system:public-info-viewer\"".into();
        return Decision { allowed: true, reason };
    }
    if user.in_group(AUTHENTICATED)
        && let Some(role) = default_role(attributes)
    {
        let reason =
            format!("RBAC: allowed by ClusterRoleBinding {role:?} of ClusterRole {role:?} to Group {AUTHENTICATED:?}");
        return Decision { allowed: true, reason: reason.into() };
    }
    workspace.authorizer().decide(user, attributes).await
}

fn default_role(attributes: &Attributes) -> Option<&'static str> {
    if let Some(path) = &attributes.path {
        let allowed = |pattern: &&str| match pattern.strip_suffix('*') {
            Some(prefix) => path.starts_with(prefix),
            None => **path == **pattern,
        };
        return (&*attributes.verb == "get" && DISCOVERY.iter().any(allowed)).then_some("system:discovery");
    }
    let basic = &*attributes.verb == "create"
        && BASIC
            .iter()
            .any(|(group, resources)| *attributes.group == **group && resources.contains(&&*attributes.resource));
    basic.then_some("system:basic-user")
}

/// The attributes of a request for objects of what was found for it.
pub fn attributes(info: &RequestInfo<'_>, found: Found<'_>, path: &ResourcePath<'_>) -> Attributes {
    // An empty one is shared by all.
    let text = |text: &str| if text.is_empty() { Arc::default() } else { text.into() };
    Attributes {
        verb: text(&info.verb),
        group: Arc::clone(&found.group.name),
        version: Arc::clone(&found.version.name),
        resource: Arc::clone(&found.resource.plural),
        subresource: text(&path.subresource),
        namespace: text(&path.namespace),
        name: text(&path.name),
        path: None,
    }
}

/// 403 unless the user may.
pub async fn require(workspace: &Workspace, user: &UserInfo, attributes: &Attributes) -> Result<(), Failure> {
    let decision = decide(workspace, user, attributes).await;
    if decision.allowed { Ok(()) } else { Err(Box::new(forbidden(user, attributes, &decision.reason))) }
}

/// 403, as kube-apiserver words it.
pub fn forbidden(user: &UserInfo, attributes: &Attributes, reason: &str) -> Status {
    let mut why = refusal(
        &UserInfo { username: status::echo(&user.username), ..UserInfo::default() },
        &Attributes {
            group: status::echo(&attributes.group).into(),
            resource: status::echo(&attributes.resource).into(),
            namespace: status::echo(&attributes.namespace).into(),
            path: attributes.path.as_deref().map(|p| status::echo(p).into()),
            ..attributes.clone()
        },
    );
    if !reason.is_empty() {
        why = format!("{why}: {reason}");
    }
    match &attributes.path {
        Some(_) => status::forbidden_path(&why),
        None => status::forbidden(&attributes.group, &attributes.resource, &attributes.name, &why),
    }
}

/// What a user may do in a namespace, as `SelfSubjectRulesReview` tells it: for people to read, not for decisions.
pub fn rules(workspace: &Workspace, user: &UserInfo, namespace: &str) -> Value {
    let mut rules =
        if user.in_group(MASTERS) { Rules::everything() } else { workspace.authorizer().rules(user, namespace) };
    if user.in_group(AUTHENTICATED) {
        for (group, resources) in BASIC {
            rules.resources.push(ResourceRule {
                verbs: vec!["create".into()],
                groups: vec![group.into()],
                resources: resources.iter().map(|r| (*r).into()).collect(),
                names: Vec::new(),
            });
        }
        rules
            .paths
            .push(PathRule { verbs: vec!["get".into()], paths: DISCOVERY.iter().map(|p| (*p).into()).collect() });
    }
    let resources: Vec<_> = rules.resources.iter().map(resource_rule).collect();
    let paths: Vec<_> = rules.paths.iter().map(|r| json!({"verbs": r.verbs, "nonResourceURLs": r.paths})).collect();
    json!({"resourceRules": resources, "nonResourceRules": paths, "incomplete": false})
}

fn resource_rule(rule: &ResourceRule) -> Value {
    let mut out = json!({"verbs": rule.verbs, "apiGroups": rule.groups, "resources": rule.resources});
    if let (Value::Object(out), false) = (&mut out, rule.names.is_empty()) {
        out.insert("resourceNames".to_owned(), json!(rule.names));
    }
    out
}
