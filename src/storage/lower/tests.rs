//! Tests of the module above.
use super::*;
use crate::engine::limits;
use crate::storage::manifest::{Color, Document, parse, render};

const GOOD: &str = r#"apiVersion: celandine.dev/v1alpha1
kind: EphemeralSchema
metadata:
  name: bucketinfos.storage.acme.example
spec:
  group: storage.acme.example
  scope: Namespaced
  names: {kind: BucketInfo, plural: bucketinfos, shortNames: [bi]}
  versions:
  - name: v1
    schema:
      simple:
        spec: {bucket: string}
    projection:
      sources:
      - id: bucket
        externalRef: {apiVersion: v1, kind: ConfigMap, metadata: {name: x}, optional: true, readAs: Provider}
      - id: all
        forEach: [{a: "${[1]}"}]
        externalRef: {apiVersion: v1, kind: ConfigMap, selector: {matchLabels: {a: b}}}
      variables:
      - {name: bytes, expression: "1"}
      status: {z: 1, a: "${variables.bytes}"}
    additionalPrinterColumns:
    - {name: Bytes, type: integer, jsonPath: .status.a}
    cache: {ttlSeconds: 10}
    limits: {timeoutSeconds: 5, rate: {requests: 20, burst: 40}}
"#;

fn document(text: &str) -> Document {
    let manifest = parse("a.yaml", text);
    assert_eq!(manifest.errors, vec![]);
    manifest.documents.into_iter().next().unwrap()
}

#[test]
fn a_right_schema_is_lowered_whole() {
    let lowering = lower(&document(GOOD).value);
    assert!(lowering.is_right());
    assert_eq!(lowering.diagnostics, vec![]);
    let lowered = lowering.lowered.unwrap();
    assert_eq!((&*lowered.names.singular, &*lowered.names.list_kind), ("bucketinfo", "BucketInfoList"));
    let version = &lowered.versions[0];
    assert!(version.served && lowered.namespaced);
    assert_eq!(version.cache, Duration::from_secs(10));
    assert_eq!(version.limits.timeout, Duration::from_secs(5));
    assert_eq!(version.limits.rate.map(|r| (r.requests, r.burst, r.per)), Some((20, 40, Duration::from_secs(1))));
    assert_eq!(version.columns.len(), 1);
    let definition = &version.definition;
    assert_eq!(definition.sources.len(), 2);
    assert_eq!(definition.sources[1].for_each, vec![("a".into(), "${[1]}".into())]);
    let Some(Value::Map(status)) = &definition.status else { panic!() };
    let fields: Vec<_> = status.iter().map(|(key, _)| key.to_string()).collect();
    assert_eq!(fields, ["z", "a"], "the author's order is kept");
}

/// Replaces text in the good schema; the diagnostics are `line:column: message` each.
#[track_caller]
fn check(replacements: &[(&str, &str)], expected: &[&str]) {
    let mut text = GOOD.to_owned();
    for (from, to) in replacements {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    let document = document(&text);
    let lowering = lower(&document.value);
    let diagnostics = &lowering.diagnostics;
    let found: Vec<_> = diagnostics
        .iter()
        .map(|d| {
            let help = d.help.as_ref().map_or_else(String::new, |help| format!(" ({help})"));
            format!("{}: {}{help}", document.position(&d.path, &d.place), d.message)
        })
        .collect();
    assert_eq!(found, expected, "{}", render(diagnostics, &document, Color::Never));
    assert!(!lowering.is_right());
}

#[test]
fn mistakes_are_told_at_once_and_in_place() {
    check(
        &[("  scope:", "  scoped:"), ("ttlSeconds: 10", "ttlSecond: 10")],
        &[
            "7:3: unknown field `scoped` (did you mean `scope`?)",
            "26:13: unknown field `ttlSecond` (did you mean `ttlSeconds`?)",
        ],
    );
    check(
        &[("name: bucketinfos.storage", "name: buckets.storage")],
        &[
            "4:9: the name must be `<plural>.<group>`, but it is `buckets.storage.acme.example` (name it `bucketinfos.storage.acme.example`)",
        ],
    );
    check(
        &[("      simple:\n        spec: {bucket: string}\n", "      {}\n")],
        &["12:7: exactly one of `simple` and `openAPIV3Schema` must be set, and none is"],
    );
    check(
        &[("    projection:", "    webhook: {egressPolicy: a, url: b}\n    projection:")],
        &["14:5: exactly one of `projection` and `webhook` must be set, and both are"],
    );
    check(
        &[("metadata: {name: x}, ", "")],
        &[
            "17:22: exactly one of `metadata.name` and `selector` must be set, and none is (a name gives one object, a selector a list; `selector: {}` selects all)",
        ],
    );
    check(&[("{a: \"${[1]}\"}", "{a: x, b: z}")], &["19:19: each dimension is a map of one variable to its list"]);
    check(
        &[("jsonPath: .status.a", "jsonPath: status.a")],
        &["25:46: `status.a` is no JSONPath (it begins with a dot: `.status.phase`)"],
    );
}

#[test]
fn names_are_those_that_kubernetes_takes() {
    for (from, to, expected) in [
        ("kind: BucketInfo,", "kind: bucketInfo,", "kinds are written in CamelCase"),
        ("kind: BucketInfo,", "kind: Bucket_Info,", "a DNS-1035 label must consist of"),
        ("[bi]", "[b_i]", "a DNS-1035 label must consist of"),
        ("name: v1", "name: V1", "a DNS-1035 label must consist of"),
        ("  group: storage.acme.example", "  group: storage", "at least one dot"),
        ("  group: storage.acme.example", "  group: apps.k8s.io", "approval annotation"),
        ("  group: storage.acme.example", "  group: celandine.dev", "Celandine's own group"),
    ] {
        let lowering = lower(&document(&GOOD.replacen(from, to, 1)).value);
        assert!(!lowering.is_right());
        let diagnostics = lowering.diagnostics;
        assert!(diagnostics.iter().any(|d| d.message.contains(expected)), "{to}: {diagnostics:?}");
    }
}

#[test]
fn what_is_no_document_of_ours_is_no_panic() {
    for text in ["kind: Foo", "1", "[]", "kind: EphemeralSchema", "kind: EphemeralSchema\nspec: 1\nmetadata: []"] {
        let lowering = lower(&document(text).value);
        assert!(!lowering.is_right() && !lowering.diagnostics.is_empty(), "{text}");
    }
}

#[test]
fn printed_paths_are_read_back() {
    for text in ["spec.versions[0].name", "a", "a[b].c", "metadata.labels[x/y]"] {
        assert_eq!(own::path(text).to_string(), text);
    }
    for odd in [".", "[", "a..b", "[]", "a[", "<nil>"] {
        let _ = own::path(odd);
    }
}

#[test]
fn our_own_crds_are_structural() {
    for (kind, crd) in own_kinds() {
        let crd: Value = serde_json::from_value(crd).unwrap();
        let (custom, diagnostics) = crate::storage::catalog::custom(&crd);
        assert_eq!(diagnostics, vec![], "{kind}");
        assert!(custom.is_some());
    }
}

/// What the API allows is what the engine takes, so that nothing passes the one and fails at the other.
#[test]
fn the_api_and_the_engine_have_the_same_bounds() {
    fn bounds<'a>(schema: &'a serde_json::Value, name: &str, found: &mut Vec<&'a serde_json::Value>) {
        let Some(map) = schema.as_object() else { return };
        if let Some(list) = map.get("properties").and_then(|properties| properties.get(name)) {
            found.extend(list.get("maxItems"));
        }
        map.values().for_each(|inner| bounds(inner, name, found));
    }
    let schema = serde_json::to_value(schemars::schema_for!(crate::api::EphemeralSchemaSpec)).unwrap();
    for (name, limit) in [
        ("sources", limits::MAX_SOURCES),
        ("variables", limits::MAX_VARIABLES),
        ("validations", limits::MAX_VALIDATIONS),
    ] {
        let mut found = vec![];
        bounds(&schema, name, &mut found);
        assert_eq!(found, [&serde_json::json!(limit)], "{name}");
    }
}
