//! What RBAC objects allow, as users meet it.
use super::*;
use crate::storage::{
    manifest,
    objects::{GroupVersionKind, Incoming},
};

const POLICY: &str = r#"
kind: ClusterRole
metadata: {name: reader}
rules:
- {apiGroups: [""], resources: [pods, pods/log], verbs: [get, list]}
- {apiGroups: [apps], resources: ["*"], verbs: ["*"]}
- {apiGroups: ["*"], resources: ["*/scale"], verbs: [update]}
- {nonResourceURLs: [/metrics, "/debug/*"], verbs: [get]}
---
kind: Role
metadata: {name: one, namespace: team}
rules:
- {apiGroups: [""], resources: [secrets], resourceNames: [s], verbs: [get]}
---
kind: ClusterRole
metadata: {name: sum}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {to: sum}}, {matchExpressions: [{key: too, operator: Exists}]}]}
rules:
- {apiGroups: [""], resources: [nodes], verbs: [get]}
---
kind: ClusterRole
metadata: {name: part, labels: {to: sum}}
rules:
- {apiGroups: [""], resources: [configmaps], verbs: [get]}
---
kind: ClusterRole
metadata: {name: sub, labels: {too: x}}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {to: sub}}]}
---
kind: ClusterRole
metadata: {name: leaf, labels: {to: sub, too: x}}
rules:
- {apiGroups: [""], resources: [services], verbs: [get]}
---
kind: ClusterRoleBinding
metadata: {name: readers}
roleRef: {kind: ClusterRole, name: reader}
subjects: [{kind: Group, name: devs}, {kind: User, name: "*"}]
---
kind: RoleBinding
metadata: {name: one, namespace: team}
roleRef: {kind: Role, name: one}
subjects: [{kind: ServiceAccount, name: bot}, {kind: ServiceAccount, name: other, namespace: elsewhere}]
---
kind: RoleBinding
metadata: {name: readers, namespace: team}
roleRef: {kind: ClusterRole, name: reader}
subjects: [{kind: User, name: jane}]
---
kind: ClusterRoleBinding
metadata: {name: sums}
roleRef: {kind: ClusterRole, name: sum}
subjects: [{kind: User, name: sue}]
---
kind: ClusterRoleBinding
metadata: {name: chiefs}
roleRef: {kind: ClusterRole, name: cluster-admin}
subjects: [{kind: User, name: chief}]
---
kind: ClusterRoleBinding
metadata: {name: dangling}
roleRef: {kind: ClusterRole, name: nowhere}
subjects: [{kind: User, name: jane}]
"#;

fn incoming(text: &str) -> Vec<Incoming> {
    let documents = manifest::parse("rbac.yaml", text).documents;
    let object = |document: &manifest::Document| {
        let json = serde_json::to_value(&document.value).unwrap();
        let text = |pointer: &str| Arc::from(json.pointer(pointer).and_then(|v| v.as_str()).unwrap_or_default());
        Incoming {
            kind: GroupVersionKind::new("rbac.authorization.k8s.io", "v1", &text("/kind")),
            namespace: text("/metadata/namespace"),
            name: text("/metadata/name"),
            value: document.value.clone(),
            schema: None,
            arrived: Arc::default(),
        }
    };
    documents.iter().map(object).collect()
}

fn user(name: &str, groups: &[&str]) -> UserInfo {
    UserInfo { username: name.into(), groups: groups.iter().map(|g| (*g).into()).collect(), ..UserInfo::default() }
}

/// `verb group resource[/subresource] [namespace] [name]` (`core`: the empty group), or `verb path /path`.
fn attributes(text: &str) -> Attributes {
    let mut words = text.split(' ').map(Arc::<str>::from);
    let mut word = || words.next().unwrap_or_default();
    let (verb, group, what) = (word(), word(), word());
    if &*group == "path" {
        return Attributes { verb, path: Some(what), ..Attributes::default() };
    }
    let (resource, subresource) = what.split_once('/').unwrap_or((&what, ""));
    Attributes {
        verb,
        group: if &*group == "core" { Arc::default() } else { group },
        resource: resource.into(),
        subresource: subresource.into(),
        namespace: word(),
        name: word(),
        ..Attributes::default()
    }
}

#[tokio::test]
async fn rules_are_those_of_kubernetes() {
    let objects = Arc::new(Objects::new(0));
    objects.replace_all(incoming(POLICY));
    let authorizer = Authorizer::rbac(objects);
    let dev = user("dan", &["devs"]);
    let jane = user("jane", &[]);
    let bot = user("system:serviceaccount:team:bot", &[]);
    let sue = user("sue", &[]);
    for (who, what, allowed) in [
        (&dev, "get other pods a x", false),
        (&dev, "get core pods a x", true),
        (&dev, "list core pods", true),
        (&dev, "watch core pods", false),
        (&dev, "get core pods/log a x", true),
        (&dev, "get core pods/exec a x", false),
        (&dev, "delete apps deployments/status a x", true),
        (&dev, "update foo bars/scale a x", true),
        (&dev, "update foo bars a x", false),
        (&dev, "get path /metrics", true),
        (&dev, "get path /debug/pprof", true),
        (&dev, "post path /metrics", false),
        (&jane, "get core pods team x", true),
        (&jane, "get core pods other x", false),
        (&jane, "list core pods", false),
        (&jane, "get path /metrics", false),
        (&bot, "get core secrets team s", true),
        (&bot, "get core secrets team t", false),
        (&bot, "list core secrets team", false),
        (&bot, "get core secrets other s", false),
        (&user("system:serviceaccount:elsewhere:other", &[]), "get core secrets team s", true),
        (&user("system:serviceaccount:team:other", &[]), "get core secrets team s", false),
        (&sue, "get core configmaps", true),
        (&sue, "get core services", true),
        (&sue, "get core nodes", false),
        (&user("chief", &[]), "delete foo bars", true),
        (&user("chief", &[]), "get path /metrics", true),
        (&user("anyone", &[]), "get core pods a x", false),
        (&user("*", &[]), "get core pods a x", true),
        (&UserInfo::admin(), "delete foo bars", true),
    ] {
        let decision = authorizer.decide(who, &attributes(what)).await;
        assert_eq!(decision.allowed, allowed, "{} {what}: {}", who.username, decision.reason);
    }
}

#[tokio::test]
async fn decisions_follow_the_objects_and_give_reasons() {
    let objects = Arc::new(Objects::new(0));
    let authorizer = Authorizer::rbac(Arc::clone(&objects));
    let jane = user("jane", &[]);
    let question = Attributes {
        verb: "get".into(),
        resource: "pods".into(),
        namespace: "team".into(),
        name: "x".into(),
        ..Attributes::default()
    };
    assert!(!authorizer.decide(&jane, &question).await.allowed);
    objects.replace_all(incoming(POLICY));
    let reason = r#"RBAC: allowed by RoleBinding "readers/team" of ClusterRole "reader" to User "jane""#;
    assert_eq!(authorizer.decide(&jane, &question).await, Decision { allowed: true, reason: reason.into() });
    objects.replace_all(vec![]);
    assert!(!authorizer.decide(&jane, &question).await.allowed);
}

#[test]
fn refusals_are_worded_as_by_kubernetes() {
    let pods =
        Attributes { verb: "get".into(), resource: "pods".into(), namespace: "a".into(), ..Attributes::default() };
    let scale = Attributes {
        verb: "update".into(),
        group: "apps".into(),
        resource: "deployments".into(),
        subresource: "scale".into(),
        ..Attributes::default()
    };
    let path = Attributes { verb: "get".into(), path: Some("/metrics".into()), ..Attributes::default() };
    let jane = user("jane", &[]);
    for (attributes, expected) in [
        (&pods, r#"User "jane" cannot get resource "pods" in API group "" in the namespace "a""#),
        (&scale, r#"User "jane" cannot update resource "deployments/scale" in API group "apps" at the cluster scope"#),
        (&path, r#"User "jane" cannot get path "/metrics""#),
    ] {
        assert_eq!(refusal(&jane, attributes), expected);
    }
    assert!(refusal(&UserInfo::default(), &pods).contains("system:anonymous"));
}
