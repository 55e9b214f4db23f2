//! Discovery documents: aggregated (`apidiscovery.k8s.io` v2 and v2beta1) and legacy.
//!
//! Absent: negotiation and ETags (routes).
use serde_json::{Value, json};

use crate::server::published::{Group, Resource, Version};

/// `/api` or `/apis`, aggregated. `version` is `v2` or `v2beta1`.
pub fn aggregated(groups: &[Group], core: bool, version: &str) -> Value {
    let items: Vec<_> = groups.iter().filter(|g| g.name.is_empty() == core).map(aggregated_group).collect();
    json!({
        "kind": "APIGroupDiscoveryList",
        "apiVersion": format!("apidiscovery.k8s.io/{version}"),
        "metadata": {},
        "items": items,
    })
}

fn aggregated_group(group: &Group) -> Value {
    let versions: Vec<_> = group
        .versions
        .iter()
        .map(|v| {
            let resources: Vec<_> = v.resources.iter().map(|r| aggregated_resource(group, v, r)).collect();
            json!({"version": v.name, "resources": resources, "freshness": "Current"})
        })
        .collect();
    if group.name.is_empty() {
        json!({"metadata": {"creationTimestamp": null}, "versions": versions})
    } else {
        json!({"metadata": {"name": group.name, "creationTimestamp": null}, "versions": versions})
    }
}

fn aggregated_resource(group: &Group, version: &Version, resource: &Resource) -> Value {
    let mut out = json!({
        "resource": resource.plural,
        "responseKind": {"group": group.name, "version": version.name, "kind": resource.kind},
        "scope": if resource.namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": resource.singular,
        "verbs": resource.served.verbs(),
    });
    names(&mut out, resource);
    out
}

fn names(out: &mut Value, resource: &Resource) {
    for (field, list) in [("shortNames", &resource.short_names), ("categories", &resource.categories)] {
        if let (Value::Object(out), false) = (&mut *out, list.is_empty()) {
            out.insert(field.to_owned(), list.iter().map(|s| Value::from(&**s)).collect());
        }
    }
}

/// `/api`
pub fn api_versions() -> Value {
    json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []})
}

/// `/apis`
pub fn group_list(groups: &[Group]) -> Value {
    let groups: Vec<_> = groups.iter().filter(|g| !g.name.is_empty()).map(group_fields).collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

/// `/apis/G`
pub fn group(group: &Group) -> Value {
    let mut out = group_fields(group);
    if let Value::Object(out) = &mut out {
        out.insert("kind".to_owned(), "APIGroup".into());
        out.insert("apiVersion".to_owned(), "v1".into());
    }
    out
}

fn group_fields(group: &Group) -> Value {
    let versions: Vec<_> =
        group.versions.iter().map(|v| json!({"groupVersion": group_version(group, v), "version": v.name})).collect();
    json!({"name": group.name, "preferredVersion": versions.first(), "versions": versions})
}

/// `/apis/G/V`, `/api/v1`
pub fn resource_list(group: &Group, version: &Version) -> Value {
    let resources: Vec<_> = version
        .resources
        .iter()
        .map(|r| {
            let mut out = json!({
                "name": r.plural,
                "singularName": r.singular,
                "namespaced": r.namespaced,
                "kind": r.kind,
                "verbs": r.served.verbs(),
            });
            names(&mut out, r);
            out
        })
        .collect();
    json!({
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": group_version(group, version),
        "resources": resources,
    })
}

/// `apps/v1`, `v1`
pub fn group_version(group: &Group, version: &Version) -> String {
    if group.name.is_empty() { version.name.to_string() } else { format!("{}/{}", group.name, version.name) }
}
