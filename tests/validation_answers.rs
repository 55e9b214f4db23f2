//! What a real kube-apiserver answered to bad input for a CRD, against what a create answers here.
//!
//! Reads `validation-answers.txt` and `crd.yaml` from `$CELANDINE_SHARED/kubernetes` (or `../shared`); says loudly that it
//! skips where they are not. The same ground in files of this repository: tests/golden/validation.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::result_large_err,
    unreachable_pub,
    reason = "tests fail by panicking"
)]
use std::{collections::BTreeSet, path::PathBuf, sync::Arc, time::Duration};

use cel::Value;
use celandine::{
    api::{Status, UserInfo},
    engine::{
        self,
        definition::{Definition, SchemaForm},
        kinds::NoPolicies,
    },
    storage::{
        authorizer::Authorizer,
        catalog::{Catalog, EphemeralKind, EphemeralVersion, Limits, Names, SchemaId},
        computing::Pace,
        create::{CreateRequest, Created, Moment, Shared, Target, create},
        objects::Objects,
        strategy::FieldValidation,
        workspace::Workspace,
    },
};
use serde_json::Value as Json;

/// Where the answers are.
fn shared() -> Option<PathBuf> {
    let given = std::env::var_os("CELANDINE_SHARED").map(PathBuf::from);
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let directory = given.unwrap_or(beside).join("kubernetes");
    directory.join("validation-answers.txt").exists().then_some(directory)
}

fn kind(crd: &str) -> EphemeralKind {
    let crd: Value = serde_saphyr::from_str(crd).unwrap();
    let crd: Json = serde_json::to_value(&crd).unwrap();
    let schema = crd.pointer("/spec/versions/0/schema/openAPIV3Schema").unwrap();
    let definition = Definition {
        group: "crd.example.io".into(),
        version: "v1alpha1".into(),
        kind: "BucketInfo".into(),
        namespaced: true,
        schema: SchemaForm::OpenApi(serde_json::from_value(schema.clone()).unwrap()),
        sources: vec![],
        variables: vec![],
        validations: vec![],
        status: None,
    };
    let (plan, diagnostics) = engine::compile(&definition, &Catalog::default(), &NoPolicies);
    let version = EphemeralVersion {
        name: "v1alpha1".into(),
        deprecation: None,
        plan: Arc::new(plan.unwrap_or_else(|| panic!("{diagnostics:?}"))),
        columns: Arc::new([]),
        cache: Duration::ZERO,
        limits: Limits::default(),
        admission: Pace::default(),
        evaluation: Pace::default(),
    };
    EphemeralKind {
        group: "crd.example.io".into(),
        names: Names {
            kind: "BucketInfo".into(),
            list_kind: "BucketInfoList".into(),
            plural: "bucketinfos".into(),
            singular: "bucketinfo".into(),
            short_names: vec![],
            categories: vec![],
        },
        namespaced: true,
        versions: vec![Arc::new(version)],
        schema: SchemaId([0; 32]),
    }
}

/// A request of the file: its name and, where it has one, its spec.
struct Sent {
    body: String,
    content_type: &'static str,
    namespace: &'static str,
    field_validation: FieldValidation,
}

/// The requests of cases that are more than a spec, as they were sent.
fn sent(name: &str, spec: Option<&str>) -> Option<Sent> {
    let api = r#""apiVersion":"crd.example.io/v1alpha1","kind":"BucketInfo""#;
    let object = |metadata: &str, spec: &str| format!(r#"{{{api},"metadata":{metadata},"spec":{spec}}}"#);
    let bucket = r#"{"bucket":"abc"}"#;
    let yaml = "apiVersion: crd.example.io/v1alpha1\nkind: BucketInfo\nmetadata: {name: q1}\nspec:\n  bucket: abc\n  \
                bucket: def\n";
    let named = r#"{"name":"q1"}"#;
    let body = match name {
        "no spec" => format!(r#"{{{api},"metadata":{named}}}"#),
        "wrong kind" => object(named, bucket).replace("BucketInfo", "Foo"),
        "wrong ver" => object(named, bucket).replace("v1alpha1", "v2"),
        "no kind" => r#"{"metadata":{"name":"q1"},"spec":{"bucket":"abc"}}"#.into(),
        "no apiVersion" => r#"{"kind":"BucketInfo","metadata":{"name":"q1"},"spec":{"bucket":"abc"}}"#.into(),
        "bad json" => r#"{"apiVersion":"crd.example.io/v1alpha1","kind":"#.into(),
        "empty" => String::new(),
        "array" => "[]".into(),
        "list" => r#"{"apiVersion":"crd.example.io/v1alpha1","kind":"BucketInfoList","items":[]}"#.into(),
        "metadata types" => object(r#"{"name":"q1","labels":{"a":1}}"#, bucket),
        "metadata unknown" => object(r#"{"name":"q1","nmae":"x"}"#, bucket),
        "generateName" => object(r#"{"generateName":"q-"}"#, bucket),
        "ns mismatch" => object(r#"{"name":"q1","namespace":"other"}"#, bucket),
        "cbor" => object(named, bucket),
        "yaml dup strict" | "yaml dup warn" => yaml.into(),
        _ => object(named, spec?),
    };
    Some(Sent {
        body,
        content_type: match name {
            "cbor" => "application/cbor",
            "yaml dup strict" | "yaml dup warn" => "application/yaml",
            _ => "application/json",
        },
        namespace: "default",
        field_validation: match name {
            "unknown strict" | "dup strict" | "yaml dup strict" | "metadata unknown" => FieldValidation::Strict,
            "unknown ignore" | "dup ignore" => FieldValidation::Ignore,
            _ => FieldValidation::Warn,
        },
    })
}

fn ask(kind: &EphemeralKind, sent: &Sent) -> Result<Created, Status> {
    let objects = Arc::new(Objects::new(0));
    let workspace = Workspace::new("root", objects, Authorizer::AlwaysAllow);
    let catalog = Catalog::default();
    let target = Target { workspace: &workspace, catalog: &catalog, kind, version: &kind.versions[0] };
    let request = CreateRequest {
        namespace: sent.namespace,
        body: sent.body.as_bytes(),
        content_type: Some(sent.content_type),
        field_validation: sent.field_validation,
        dry_run: false,
        user: &UserInfo::admin(),
        moment: Moment::now(),
        timeout: None,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(create(&Shared::default(), target, &request))
}

/// (reason, message, field) of every cause but the one that tells nobody anything.
fn causes(details: &Json) -> BTreeSet<(String, String, String)> {
    let text = |cause: &Json, field: &str| cause[field].as_str().unwrap_or_default().to_owned();
    let causes = details["causes"].as_array().cloned().unwrap_or_default();
    causes
        .iter()
        .map(|cause| (text(cause, "reason"), text(cause, "message"), text(cause, "field")))
        .filter(|(_, message, _)| !message.contains("some validation rules were not checked"))
        .collect()
}

/// What is wrong with our answer, if anything.
fn difference(got: &Result<Created, Status>, expected: &str) -> Option<String> {
    let code = &expected[..3];
    match (got, code) {
        (Ok(created), "201") => {
            let got = serde_json::to_value(&created.object).unwrap();
            let wanted: Json = serde_json::from_str(&expected[4..]).unwrap();
            // 1.0 and 1 are one number of JSON.
            let number = |spec: &Json| spec.to_string().replace("1.0", "1");
            (number(&got["spec"]) != number(&wanted["spec"])).then(|| got.to_string())
        }
        (Err(status), code) if code != "201" => {
            let rest: Vec<&str> = expected[4..].split(" | ").collect();
            let details: Json = serde_json::from_str(rest[2]).unwrap();
            let got = serde_json::to_value(status).unwrap();
            let noise = details.to_string().contains("some validation rules were not checked");
            let same_message = match causes(&details).len() {
                // Kubernetes lists causes in any order.
                2.. => status.message.contains(" is invalid: ["),
                _ if noise => status.message.contains(" is invalid: ") && !status.message.contains(" is invalid: ["),
                _ => status.message == rest[1].replace(", application/vnd.kubernetes.protobuf", ""),
            };
            let same = status.code.get().to_string() == code
                && status.reason == rest[0]
                && same_message
                && causes(&got["details"]) == causes(&details)
                && ["name", "group", "kind"].iter().all(|field| got["details"][field] == details[field]);
            (!same).then(|| got.to_string())
        }
        (got, _) => Some(format!("{got:?}")),
    }
}

#[test]
fn answers_are_those_of_kube_apiserver() {
    let Some(directory) = shared() else {
        eprintln!("SKIPPED: no validation-answers.txt; set CELANDINE_SHARED");
        return;
    };
    let kind = kind(&std::fs::read_to_string(directory.join("crd.yaml")).unwrap());
    let text = std::fs::read_to_string(directory.join("validation-answers.txt")).unwrap();
    // What differs on purpose: nothing is stored under a name, protobuf is the server's.
    let other = ["no name", "protobuf to CRD", "warn hdr"];
    let (mut checked, mut failures) = (0, vec![]);
    for block in text.split("## ").skip(1) {
        let (head, answer) = block.split_once('\n').unwrap();
        let (name, spec) = head.split_once("  ").map_or((head.trim(), None), |(name, spec)| (name, Some(spec)));
        if other.contains(&name) {
            continue;
        }
        let sent = sent(name, spec).unwrap_or_else(|| panic!("unknown request `{name}`"));
        checked += 1;
        if let Some(got) = difference(&ask(&kind, &sent), answer.trim_end()) {
            failures.push(format!("{name}\n  wanted {}\n  got    {got}", answer.trim_end()));
        }
    }
    assert!(checked >= 30, "only {checked} requests");
    assert!(failures.is_empty(), "{} of {checked} differ:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn warnings_are_those_of_kube_apiserver() {
    let Some(directory) = shared() else {
        eprintln!("SKIPPED: no crd.yaml; set CELANDINE_SHARED");
        return;
    };
    let kind = kind(&std::fs::read_to_string(directory.join("crd.yaml")).unwrap());
    let sent = sent("warn hdr", Some(r#"{"bucket":"abc","bucket":"def","x":1}"#)).unwrap();
    let created = ask(&kind, &sent).unwrap();
    assert_eq!(created.warnings, [r#"duplicate field "spec.bucket""#, r#"unknown field "spec.x""#]);
}

#[test]
fn a_name_is_not_needed() {
    let Some(directory) = shared() else {
        eprintln!("SKIPPED: no crd.yaml; set CELANDINE_SHARED");
        return;
    };
    let kind = kind(&std::fs::read_to_string(directory.join("crd.yaml")).unwrap());
    let body = r#"{"apiVersion":"crd.example.io/v1alpha1","kind":"BucketInfo","spec":{"bucket":"abc"}}"#;
    let sent = Sent {
        body: body.into(),
        content_type: "application/json",
        namespace: "default",
        field_validation: FieldValidation::Strict,
    };
    let object = serde_json::to_value(&ask(&kind, &sent).unwrap().object).unwrap();
    assert_eq!(object["metadata"].get("name"), None);
    assert_eq!(object["metadata"]["namespace"], "default");
}

/// Metadata is decoded on its own, before defaults; a name that is not sent is not there, whatever the author wishes.
#[test]
fn metadata_has_no_defaults() {
    let kind = kind(
        "spec: {versions: [{schema: {openAPIV3Schema: {type: object, properties: {\
         metadata: {type: object, properties: {name: {type: string, default: x}}},\
         spec: {type: object, default: {}, properties: {bucket: {type: string, default: b}}}}}}}]}",
    );
    let sent = Sent {
        body: r#"{"kind":"BucketInfo","status":{"a":1},"apiVersion":"crd.example.io/v1alpha1"}"#.into(),
        content_type: "application/json",
        namespace: "default",
        field_validation: FieldValidation::Strict,
    };
    let mut object = serde_json::to_value(&ask(&kind, &sent).unwrap().object).unwrap();
    let metadata = object["metadata"].take();
    assert_eq!((metadata.get("name"), &metadata["namespace"]), (None, &Json::from("default")));
    let rest = r#"{"apiVersion":"crd.example.io/v1alpha1","kind":"BucketInfo","metadata":null,"spec":{"bucket":"b"}}"#;
    assert_eq!(object.to_string(), rest);
}
