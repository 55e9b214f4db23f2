//! The columns of the Kubernetes kinds that workspaces often hold. Others have NAME and AGE.
//!
//! Absent: what needs a cluster to be known (a pod's readiness is what its status says).
use serde_json::Value;

use crate::server::table::{Cell, Column, json_path::JsonPath};

/// The columns of a kind; `None` for those that have none of their own.
pub fn columns(group: &str, plural: &str) -> Option<Vec<Column>> {
    let own: &[(&str, &str, i64, Source)] = match (group, plural) {
        ("", "namespaces") => &[("Status", "string", 0, Path(".status.phase"))],
        ("", "pods") => &[
            ("Ready", "string", 0, Code(pod_ready)),
            ("Status", "string", 0, Code(pod_status)),
            ("Restarts", "integer", 0, Code(pod_restarts)),
            ("Age", "date", 0, Age),
            ("IP", "string", 1, Path(".status.podIP")),
            ("Node", "string", 1, Path(".spec.nodeName")),
        ],
        ("", "nodes") => &[
            ("Status", "string", 0, Code(node_status)),
            ("Roles", "string", 0, Code(node_roles)),
            ("Age", "date", 0, Age),
            ("Version", "string", 0, Path(".status.nodeInfo.kubeletVersion")),
            ("Internal-IP", "string", 1, Path(r#".status.addresses[?(@.type=="InternalIP")].address"#)),
            ("OS-Image", "string", 1, Path(".status.nodeInfo.osImage")),
        ],
        ("", "configmaps") => &[("Data", "integer", 0, Code(config_map_data))],
        ("", "secrets") => &[("Type", "string", 0, Path(".type")), ("Data", "integer", 0, Code(secret_data))],
        ("", "services") => &[
            ("Type", "string", 0, Path(".spec.type")),
            ("Cluster-IP", "string", 0, Path(".spec.clusterIP")),
            ("Port(s)", "string", 0, Code(service_ports)),
            ("Age", "date", 0, Age),
            ("Selector", "string", 1, Path(".spec.selector")),
        ],
        ("apps", "deployments") => &[
            ("Ready", "string", 0, Code(replicas_ready)),
            ("Up-to-date", "integer", 0, Path(".status.updatedReplicas")),
            ("Available", "integer", 0, Path(".status.availableReplicas")),
        ],
        ("apps", "statefulsets") => &[("Ready", "string", 0, Code(replicas_ready))],
        _ => return None,
    };
    let mut columns = vec![Column::name()];
    for (name, ty, priority, source) in own {
        columns.extend(match source {
            Age => Column::age(),
            Path(path) => JsonPath::parse(path).map(|p| Column::new(name, ty, *priority, Cell::Path(p))),
            Code(code) => Some(Column::new(name, ty, *priority, Cell::Computed(*code))),
        });
    }
    if own.iter().all(|(.., source)| !matches!(source, Age)) {
        columns.extend(Column::age());
    }
    Some(columns)
}

enum Source {
    Path(&'static str),
    Code(fn(&Value) -> Value),
    Age,
}
use Source::{Age, Code, Path};

fn list<'a>(object: &'a Value, pointer: &str) -> &'a [Value] {
    object.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn text<'a>(object: &'a Value, pointer: &str) -> Option<&'a str> {
    object.pointer(pointer).and_then(Value::as_str)
}

fn number(object: &Value, pointer: &str) -> i64 {
    object.pointer(pointer).and_then(Value::as_i64).unwrap_or(0)
}

fn size(object: &Value, pointer: &str) -> usize {
    object.pointer(pointer).and_then(Value::as_object).map_or(0, serde_json::Map::len)
}

fn pod_ready(pod: &Value) -> Value {
    let ready = list(pod, "/status/containerStatuses").iter().filter(|c| c.get("ready") == Some(&Value::Bool(true)));
    format!("{}/{}", ready.count(), list(pod, "/spec/containers").len()).into()
}

fn pod_status(pod: &Value) -> Value {
    if pod.pointer("/metadata/deletionTimestamp").is_some() {
        return "Terminating".into();
    }
    let waiting = list(pod, "/status/containerStatuses")
        .iter()
        .rev()
        .find_map(|c| text(c, "/state/waiting/reason").or_else(|| text(c, "/state/terminated/reason")));
    waiting.or_else(|| text(pod, "/status/reason")).or_else(|| text(pod, "/status/phase")).unwrap_or("Unknown").into()
}

fn pod_restarts(pod: &Value) -> Value {
    list(pod, "/status/containerStatuses")
        .iter()
        .map(|c| number(c, "/restartCount"))
        .fold(0, i64::saturating_add)
        .into()
}

fn node_status(node: &Value) -> Value {
    let ready = list(node, "/status/conditions").iter().find(|c| text(c, "/type") == Some("Ready"));
    let status = match ready.and_then(|c| text(c, "/status")) {
        Some("True") => "Ready",
        Some(_) => "NotReady",
        None => "Unknown",
    };
    let cordoned = node.pointer("/spec/unschedulable") == Some(&Value::Bool(true));
    format!("{status}{}", if cordoned { ",SchedulingDisabled" } else { "" }).into()
}

fn node_roles(node: &Value) -> Value {
    let labels = node.pointer("/metadata/labels").and_then(Value::as_object);
    let mut roles: Vec<_> = labels
        .into_iter()
        .flat_map(|l| l.keys())
        .filter_map(|k| k.strip_prefix("node-role.kubernetes.io/"))
        .filter(|r| !r.is_empty())
        .collect();
    roles.sort_unstable();
    if roles.is_empty() { "<none>".into() } else { roles.join(",").into() }
}

fn config_map_data(map: &Value) -> Value {
    (size(map, "/data") + size(map, "/binaryData")).into()
}

fn secret_data(secret: &Value) -> Value {
    (size(secret, "/data") + size(secret, "/stringData")).into()
}

fn service_ports(service: &Value) -> Value {
    let ports: Vec<_> = list(service, "/spec/ports")
        .iter()
        .map(|p| {
            let node = match number(p, "/nodePort") {
                0 => String::new(),
                n => format!(":{n}"),
            };
            format!("{}{node}/{}", number(p, "/port"), text(p, "/protocol").unwrap_or("TCP"))
        })
        .collect();
    if ports.is_empty() { "<none>".into() } else { ports.join(",").into() }
}

fn replicas_ready(object: &Value) -> Value {
    let wanted = object.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or(1);
    format!("{}/{wanted}", number(object, "/status/readyReplicas")).into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_path_parses() {
        for (group, plural, count) in [
            ("", "namespaces", 3),
            ("", "pods", 7),
            ("", "nodes", 7),
            ("", "configmaps", 3),
            ("", "secrets", 4),
            ("", "services", 6),
            ("apps", "deployments", 5),
            ("apps", "statefulsets", 3),
        ] {
            assert_eq!(columns(group, plural).unwrap().len(), count, "{plural}");
        }
        assert!(columns("x", "pods").is_none());
    }

    #[test]
    fn computes_cells() {
        let pod = json!({
            "spec": {"containers": [{}, {}]},
            "status": {"phase": "Running", "containerStatuses": [
                {"ready": true, "restartCount": 2}, {"ready": false, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]},
        });
        assert_eq!(pod_ready(&pod), json!("1/2"));
        assert_eq!(pod_status(&pod), json!("CrashLoopBackOff"));
        assert_eq!(pod_restarts(&pod), json!(2));
        assert_eq!(pod_status(&json!({})), json!("Unknown"));
        let node = json!({
            "metadata": {"labels": {"node-role.kubernetes.io/control-plane": ""}},
            "spec": {"unschedulable": true},
            "status": {"conditions": [{"type": "Ready", "status": "True"}]},
        });
        assert_eq!(node_status(&node), json!("Ready,SchedulingDisabled"));
        assert_eq!(node_roles(&node), json!("control-plane"));
        let service = json!({"spec": {"ports": [{"port": 80, "nodePort": 30080}, {"port": 53, "protocol": "UDP"}]}});
        assert_eq!(service_ports(&service), json!("80:30080/TCP,53/UDP"));
    }
}
