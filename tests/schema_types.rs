//! Typed objects in expressions: types, checks and values as Kubernetes answers in the vectors beside the repository, and the
//! types of Kubernetes' own kinds.
//!
//! Absent: the language itself (the cel crate's own vectors).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::result_large_err,
    unreachable_pub,
    reason = "tests fail by panicking"
)]
use std::{env, fs, path::PathBuf, sync::Arc};

use cel::{Env, Value, program::Options};
use celandine::engine::{
    diagnostic::FieldPath,
    schema::{
        Structural, from_json_schema, from_type, metadata, openapi,
        structural::SchemaType,
        to_cel,
        to_cel::to_rules,
        types::{Dialect, Registry},
    },
};
use serde_json::Value as Json;

#[test]
fn typed_objects() {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let shared = env::var_os("CELANDINE_SHARED").map_or(beside, PathBuf::from).join("cel-vectors");
    if !shared.is_dir() {
        return println!("SKIPPED: no vectors at {}", shared.display());
    }
    let (mut run, mut wrong) = (0, Vec::new());
    for file in ["schema.json", "schema-data.json"] {
        let vectors: Json = serde_json::from_str(&fs::read_to_string(shared.join(file)).unwrap()).unwrap();
        for case in vectors["cases"].as_array().unwrap() {
            let fixture = &vectors["fixtures"][case["fixture"].as_str().unwrap_or_default()];
            let field = |name: &str| if case[name].is_null() { &fixture[name] } else { &case[name] };
            if OTHERWISE.contains(&case["id"].as_str().unwrap()) || is_misfit(&case["expect"]) {
                continue;
            }
            run += 1;
            if let Err(why) = check(case, field("schema"), field("vars")) {
                wrong.push(format!("{} {}: {why}", case["id"], case["expr"]));
            }
        }
    }
    assert!(run > 250, "only {run} cases");
    assert!(wrong.is_empty(), "{} of {run} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Where we answer otherwise: a whole object shows the fields that its schema does not name, all under their own names; and
/// `isSorted` of a list of ints and strings (the last), where upstream compares nothing it cannot.
const OTHERWISE: [&str; 10] = [
    "schema-0154",
    "schema-0159",
    "schema-0160",
    "schema-0167",
    "schema-0174",
    "schema-0227",
    "schema-0240",
    "schema-0244",
    "schema-data-0141",
    "schema-data-0100",
];

/// What upstream says of data that does not fit its schema; ours is validated before expressions see it, and stays as it is.
fn is_misfit(expect: &Json) -> bool {
    let error = expect["error"].as_str().unwrap_or_default();
    let element = expect["value"].to_string().contains("invalid data");
    element || error.starts_with("invalid data") || error.starts_with("Invalid ")
}

/// The fixture has a map list whose keys may be absent, which a schema may not; they are required here.
fn require_keys(schema: &mut Json) {
    match schema {
        Json::Object(map) => {
            if let (Some(keys), Some(Json::Object(items))) =
                (map.get("x-kubernetes-list-map-keys").cloned(), map.get_mut("items"))
            {
                items.insert("required".to_owned(), keys);
            }
            map.values_mut().for_each(require_keys);
        }
        Json::Array(items) => items.iter_mut().for_each(require_keys),
        _ => {}
    }
}

fn check(case: &Json, schemas: &Json, vars: &Json) -> Result<(), String> {
    let mut registry = Registry::builder(Dialect::Rules);
    let mut variables = Vec::new();
    for (name, schema) in schemas.as_object().unwrap() {
        let mut schema = schema.clone();
        require_keys(&mut schema);
        let schema: Value = serde_json::from_value(schema).unwrap();
        let (schema, found) = Structural::from_openapi_part(&schema, &FieldPath::root());
        let schema = schema.ok_or_else(|| format!("{found:?}"))?;
        let schema = if schema.embedded_resource { metadata::restricted(&schema) } else { schema };
        let ty = registry.add("selfType", &Arc::new(schema.clone()));
        let value: Value = serde_json::from_value(vars[name].clone()).unwrap();
        variables.push((name.clone(), ty, to_rules(&schema, &value)));
    }
    let env = cel::library::kubernetes().into_iter().fold(Env::standard(), cel::EnvBuilder::library);
    let env = env.homogeneous_aggregates(true).lenient(true).provider(registry.build());
    let env = variables.iter().fold(env, |env, (name, ty, _)| env.variable(name, ty.clone())).build();
    let expect = &case["expect"];
    let expr = case["expr"].as_str().unwrap();
    let checked = match env.compile(expr) {
        Ok(checked) => checked,
        Err(issues) => {
            let expected = expect["check"]["ok"].as_bool() == Some(true);
            return if expected { Err(format!("does not compile: {issues}")) } else { Ok(()) };
        }
    };
    if expect["check"]["ok"].as_bool() != Some(true) {
        return Err(format!("compiles: {}", checked.result_type()));
    }
    if let Some(ty) = expect["check_type"].as_str() {
        let got = checked.result_type().to_string();
        let got = match got.as_str() {
            "timestamp" => "google.protobuf.Timestamp".into(),
            "duration" => "google.protobuf.Duration".into(),
            _ => got,
        };
        if got != ty {
            return Err(format!("is of type {got}, not {ty}"));
        }
    }
    let program = env.program(&checked).map_err(|e| e.to_string())?;
    let slots: Vec<Option<Value>> = variables.iter().map(|(_, _, value)| Some(value.clone())).collect();
    let result = program.evaluate(&slots[..], Options::default()).result;
    match (&expect["value"], result) {
        (Json::Null, Ok(value)) => Err(format!("gives {value:?}, not {}", expect["error"])),
        (Json::Null, Err(_)) => Ok(()),
        (expected, Err(e)) => Err(format!("fails {e:?}, not {expected}")),
        (expected, Ok(value)) => {
            let got = tagged(&value);
            if got["t"] != expected["t"]
                || (!matches!(expected["t"].as_str(), Some("bytes" | "double" | "timestamp")) && got != *expected)
            {
                Err(format!("gives {got}, not {expected}"))
            } else {
                Ok(())
            }
        }
    }
}

fn tagged(value: &Value) -> Json {
    use serde_json::json;
    match value {
        Value::Null => json!({"t": "null"}),
        Value::Bool(b) => json!({"t": "bool", "v": b}),
        Value::Int(i) => json!({"t": "int", "v": i.to_string()}),
        Value::Double(i) => json!({"t": "double", "v": i.to_string()}),
        Value::String(s) => json!({"t": "string", "v": &**s}),
        Value::Duration(d) => json!({"t": "duration", "v": d.to_string()}),
        Value::Timestamp(_) => json!({"t": "timestamp"}),
        Value::List(l) => json!({"t": "list", "v": l.as_slice().iter().map(tagged).collect::<Vec<_>>()}),
        Value::Map(m) => {
            let mut entries: Vec<(Json, Json)> = m
                .iter()
                .map(|(k, v)| {
                    (
                        match k {
                            cel::value::Key::String(s) => json!({"t": "string", "v": &**s}),
                            _ => json!(null),
                        },
                        tagged(v),
                    )
                })
                .collect();
            entries.sort_by_key(|(k, _)| k.to_string());
            json!({"t": "map", "v": entries})
        }
        Value::Optional(None) => json!({"t": "optional", "v": null}),
        Value::Optional(Some(v)) => json!({"t": "optional", "v": tagged(v)}),
        Value::Bytes(bytes) => json!({"t": "bytes", "v": String::from_utf8_lossy(bytes)}),
        Value::Type(t) => json!({"t": "type", "v": t.to_string()}),
        _ => json!({"t": "?"}),
    }
}

fn type_of(env: &Env, expression: &str) -> String {
    env.compile(expression).map_or_else(|issues| issues.to_string(), |checked| checked.result_type().to_string())
}

#[test]
fn kinds_of_kubernetes() {
    let generate = |schema: schemars::Schema| metadata::whole(&from_json_schema(schema.as_value()));
    let pod = Arc::new(generate(schemars::schema_for!(k8s_openapi::api::core::v1::Pod)));
    let secret = Arc::new(generate(schemars::schema_for!(k8s_openapi::api::core::v1::Secret)));
    let crd = schemars::schema_for!(
        k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition
    );
    let crd = Arc::new(generate(crd));
    let mut registry = Registry::builder(Dialect::Workspace);
    let (pod_type, secret_type, crd_type) =
        (registry.add("Pod", &pod), registry.add("Secret", &secret), registry.add("CRD", &crd));
    let registry = registry.build();
    let env = Env::standard().provider(registry.clone());
    let env = env.variable("pod", pod_type.clone()).variable("secret", secret_type).variable("crd", crd_type).build();
    for (expression, ty) in [
        ("pod.metadata.name", "string"),
        ("pod.metadata.labels", "map(string, string)"),
        ("pod.metadata.creationTimestamp", "timestamp"),
        ("pod.metadata.ownerReferences[0].controller", "bool"),
        ("pod.spec.containers[0].image", "string"),
        ("pod.spec.containers[0].ports[0].containerPort", "int"),
        ("pod.spec.containers[0].resources.limits", "map(string, dyn)"),
        ("pod.spec.containers[0].livenessProbe.httpGet.port", "dyn"),
        ("pod.status.startTime", "timestamp"),
        ("pod.status.phase == 'Running'", "bool"),
        ("pod.spec.containrs", "undefined field 'containrs'; did you mean `containers`?"),
        ("secret.data", "map(string, bytes)"),
        ("crd.spec.versions[0].schema.openAPIV3Schema.properties", "map(string, dyn)"),
    ] {
        assert_eq!(type_of(&env, expression), ty, "{expression}");
    }

    let given: Value = serde_json::from_value(serde_json::json!({
        "metadata": {"name": "p", "creationTimestamp": "2024-01-01T00:00:00Z"},
        "spec": {"containers": [{"name": "c"}]},
        "status": {"startTime": "soon"},
    }))
    .unwrap();
    let seen = to_cel(&pod, &given);
    let (Value::Map(given), Value::Map(seen)) = (&given, &seen) else { panic!("{seen:?}") };
    let field = |name: &str| match (given.get(name), seen.get(name)) {
        (Some(Value::Map(given)), Some(Value::Map(seen))) => given.same(seen),
        other => panic!("{other:?}"),
    };
    assert!(field("spec") && field("status") && !field("metadata"), "what does not change is shared");

    let inferred = from_type(&pod_type, &registry);
    assert_eq!(inferred.ty, Some(SchemaType::Object));
    assert_eq!(openapi(&inferred)["properties"]["status"]["properties"]["startTime"]["format"], "date-time");
}

#[test]
fn unknown_fields_of_the_workspace_are_dyn() {
    let schema = serde_json::json!({"type": "object", "properties": {
        "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"known": {"type": "integer"}}},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        "bare": {"x-kubernetes-preserve-unknown-fields": true},
    }});
    let (schema, _) = Structural::from_openapi(&serde_json::from_value(schema).unwrap(), &FieldPath::root());
    let schema = Arc::new(schema.unwrap());
    for (dialect, expected) in [
        (Dialect::Workspace, ["int", "dyn", "dyn", "dyn"]),
        (Dialect::Rules, ["int", "undefined field 'other'", "undefined field 'x'", "undefined field 'bare'"]),
    ] {
        let mut registry = Registry::builder(dialect);
        let ty = registry.add("T", &schema);
        let env = Env::standard().provider(registry.build()).variable("t", ty).build();
        let got = ["t.open.known", "t.open.other", "t.free.x", "t.bare"].map(|e| type_of(&env, e));
        assert_eq!(got, expected);
    }
}
