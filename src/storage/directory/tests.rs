//! Tests of the module above.
use std::{fs, time::Duration};

use bytes::Bytes;
use tempfile::TempDir;

use super::{item::field, *};
use crate::{
    api::UserInfo,
    engine::diagnostic::Severity,
    storage::{
        create::{CreateRequest, Moment, Shared, Target, create},
        egress::{EgressError, stand_in::StandIn},
        manifest::Color,
        objects::GroupVersionKind,
        selector::{FieldSelector, LabelSelector},
        strategy::FieldValidation,
    },
};

const WIDGETS: &str = r#"apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.acme.example}
spec:
  group: acme.example
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer, default: 3}
              made: {type: string, format: date-time}
  - name: v1beta1
    served: true
    storage: false
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
---
apiVersion: acme.example/v1
kind: Widget
metadata: {name: a, labels: {app: x}}
spec: {made: "2026-01-01T00:00:00Z"}
"#;

const SCHEMA: &str = r#"apiVersion: celandine.dev/v1alpha1
kind: EphemeralSchema
metadata: {name: widgetinfos.info.acme.example}
spec:
  group: info.acme.example
  scope: Namespaced
  names: {kind: WidgetInfo, plural: widgetinfos}
  versions:
  - name: v1
    schema: {simple: {spec: {widget: string}}}
    projection:
      sources:
      - id: widget
        externalRef: {apiVersion: acme.example/v1, kind: Widget, metadata: {name: "${object.spec.widget}"}}
      status:
        size: ${widget.spec.size}
"#;

fn directory(files: &[(&str, &str)]) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in files {
        write(&directory, name, text);
    }
    directory
}

fn write(directory: &TempDir, name: &str, text: &str) {
    let path = directory.path().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn lines(directory: &TempDir, report: &Report) -> Vec<String> {
    let prefix = format!("{}/", directory.path().display());
    report.findings.iter().map(|finding| finding.to_string().replace(&prefix, "")).collect()
}

fn root(directory: &Directory) -> Arc<Workspace> {
    directory.workspaces().root().unwrap()
}

fn served(workspace: &Workspace) -> Vec<String> {
    let catalog = workspace.catalog();
    let kinds = catalog.ephemeral();
    kinds.flat_map(|kind| kind.versions.iter().map(|v| format!("{}/{}", kind.names.kind, v.name))).collect()
}

/// `status reason` of a condition of the schema, and its message.
fn condition(workspace: &Workspace, name: &str, kind: &str) -> (String, String) {
    condition_of(workspace, "EphemeralSchema", name, kind)
}

fn condition_of(workspace: &Workspace, of: &str, name: &str, kind: &str) -> (String, String) {
    let gvk = GroupVersionKind::new("celandine.dev", "v1alpha1", of);
    let object = workspace.objects().get(&gvk, "", name).unwrap();
    let json = serde_json::to_value(object.value()).unwrap();
    let conditions = json["status"]["conditions"].as_array().unwrap();
    let condition = conditions.iter().find(|c| c["type"] == kind).unwrap();
    assert_eq!(condition["observedGeneration"], json["metadata"]["generation"]);
    let text = |field: &str| condition[field].as_str().unwrap().to_owned();
    (format!("{} {}", text("status"), text("reason")), text("message"))
}

const NAME: &str = "widgetinfos.info.acme.example";

#[test]
fn a_directory_is_a_workspace() {
    let files = directory(&[
        ("crd.yaml", WIDGETS),
        ("schema.yml", SCHEMA),
        ("requests/x.yaml", "a: ["),
        (".hidden.yaml", "a: ["),
    ]);
    let (directory, report) = Directory::load(files.path()).unwrap();
    assert_eq!(lines(&files, &report), Vec::<String>::new());
    assert_eq!(
        report.workspaces,
        [WorkspaceReport {
            path: "root".into(),
            ephemeral: vec!["info.acme.example/v1 WidgetInfo".into()],
            custom_kinds: 1,
            objects: 3
        }]
    );
    let root = root(&directory);
    assert_eq!(served(&root), ["WidgetInfo/v1"]);
    for kind in ["Accepted", "TypesChecked", "Served"] {
        let (status, _) = condition(&root, NAME, kind);
        assert!(status.starts_with("True "), "{kind}: {status}");
    }
    // Namespaced objects without a namespace are in `default`, with defaults, typed, in every served version.
    for version in ["v1", "v1beta1"] {
        let kind = GroupVersionKind::new("acme.example", version, "Widget");
        let widget = root.objects().get(&kind, "default", "a").unwrap();
        let json = serde_json::to_value(widget.value()).unwrap();
        assert_eq!(json["apiVersion"], format!("acme.example/{version}"));
        if version == "v1" {
            assert_eq!(json["spec"]["size"], 3);
            let cel::Value::Map(typed) = widget.typed() else { panic!() };
            let Some(cel::Value::Map(spec)) = typed.get("spec") else { panic!() };
            assert!(matches!(spec.get("made"), Some(cel::Value::Timestamp(_))));
        }
    }
}

#[test]
fn directories_below_workspaces_are_workspaces() {
    let files = directory(&[
        ("a.yaml", ""),
        ("workspaces/acme/team/w.yaml", WIDGETS),
        ("workspaces/acme/team/s.yaml", SCHEMA),
        ("workspaces/Bad_Name/s.yaml", SCHEMA),
    ]);
    let (directory, report) = Directory::load(files.path()).unwrap();
    assert_eq!(lines(&files, &report), ["`workspaces/Bad_Name` is no name of a workspace, and is not loaded"]);
    let paths = directory.workspaces().paths();
    assert_eq!(paths, ["root".into(), "root:acme".into(), "root:acme:team".into()]);
    assert_eq!(served(&directory.workspaces().get("acme:team").unwrap()), ["WidgetInfo/v1"]);
    assert_eq!(served(&root(&directory)), Vec::<String>::new());
}

#[test]
fn a_broken_file_keeps_its_last_good_content() {
    let files = directory(&[("crd.yaml", WIDGETS), ("schema.yaml", SCHEMA)]);
    let (mut directory, _) = Directory::load(files.path()).unwrap();
    write(&files, "crd.yaml", &WIDGETS.replace("name: a,", "name: a, name: b,"));
    let report = directory.reload().unwrap();
    assert_eq!(lines(&files, &report), ["crd.yaml:28:21: duplicate key `name`"]);
    let widgets = GroupVersionKind::new("acme.example", "v1", "Widget");
    assert!(root(&directory).objects().get(&widgets, "default", "a").is_some());
    assert_eq!(served(&root(&directory)), ["WidgetInfo/v1"]);
    // Right again.
    write(&files, "crd.yaml", &WIDGETS.replace("name: a,", "name: b,"));
    let report = directory.reload().unwrap();
    assert_eq!(lines(&files, &report), Vec::<String>::new());
    assert!(root(&directory).objects().get(&widgets, "default", "a").is_none());
    assert!(root(&directory).objects().get(&widgets, "default", "b").is_some());
    // Gone.
    fs::remove_file(files.path().join("schema.yaml")).unwrap();
    directory.reload().unwrap();
    assert_eq!(served(&root(&directory)), Vec::<String>::new());
}

#[test]
fn a_schema_that_stops_compiling_goes_on_in_its_last_good_form() {
    let files = directory(&[("crd.yaml", WIDGETS), ("schema.yaml", SCHEMA)]);
    let (mut directory, _) = Directory::load(files.path()).unwrap();
    let plan = Arc::clone(
        &root(&directory).catalog().ephemeral_version("info.acme.example", "v1", "widgetinfos").unwrap().1.plan,
    );

    write(&files, "schema.yaml", &SCHEMA.replace("widget.spec.size", "widget.spec.sise"));
    let report = directory.reload().unwrap();
    assert!(report.has_errors());
    assert_eq!(lines(&files, &report).len(), 1, "{:?}", lines(&files, &report));
    assert!(lines(&files, &report)[0].starts_with("schema.yaml:16:"), "{:?}", lines(&files, &report));
    assert_eq!(condition(&root(&directory), NAME, "Accepted").0, "True Accepted");
    let (status, message) = condition(&root(&directory), NAME, "TypesChecked");
    assert_eq!(status, "False ExpressionErrors");
    assert!(message.contains("schema.yaml:16:"), "{message}");
    assert_eq!(condition(&root(&directory), NAME, "Served").0, "True LastGoodServed");
    let now = Arc::clone(
        &root(&directory).catalog().ephemeral_version("info.acme.example", "v1", "widgetinfos").unwrap().1.plan,
    );
    assert!(Arc::ptr_eq(&plan, &now));

    write(&files, "schema.yaml", &SCHEMA.replace("scope:", "scoop:"));
    directory.reload().unwrap();
    assert!(condition(&root(&directory), NAME, "Accepted").0.starts_with("False Invalid"));
    assert!(condition(&root(&directory), NAME, "TypesChecked").0.starts_with("Unknown "));
    assert_eq!(condition(&root(&directory), NAME, "Served").0, "True LastGoodServed");

    write(&files, "schema.yaml", SCHEMA);
    assert!(!directory.reload().unwrap().has_errors());
    assert_eq!(condition(&root(&directory), NAME, "Served").0, "True Served");
}

const POLICY: &str = r#"apiVersion: celandine.dev/v1alpha1
kind: EgressPolicy
metadata: {name: acme}
spec:
  endpoints: [{host: acme.example}]
  usableBy: {schemas: ["*"], workspaces: ["*"]}
"#;

const CALLING: &str = r#"apiVersion: celandine.dev/v1alpha1
kind: EphemeralSchema
metadata: {name: answers.info.acme.example}
spec:
  group: info.acme.example
  scope: Cluster
  names: {kind: Answer, plural: answers}
  versions:
  - name: v1
    schema: {simple: {spec: {question: string}}}
    projection:
      sources:
      - {id: found, http: {egressPolicy: acme, url: "https://acme.example/"}}
      status: {found: "${found}"}
"#;

/// Answers everything.
#[derive(Debug)]
struct Echo;

impl StandIn for Echo {
    fn replays(&self) -> bool {
        true
    }

    fn answer(&self, _: &http::Request<Bytes>) -> Option<Result<http::Response<Bytes>, EgressError>> {
        Some(Ok(http::Response::new("7".into())))
    }

    fn saw(&self, _: &http::Request<Bytes>, _: &Result<http::Response<Bytes>, EgressError>, _: bool) {}
}

/// `found`, or the message of the failure.
async fn answer(workspace: &Workspace) -> String {
    let catalog = workspace.catalog();
    let (kind, version) = catalog.ephemeral_version("info.acme.example", "v1", "answers").unwrap();
    let request = CreateRequest {
        namespace: "",
        body: br#"{"apiVersion": "info.acme.example/v1", "kind": "Answer", "metadata": {"name": "a"}}"#,
        content_type: None,
        field_validation: FieldValidation::Strict,
        dry_run: false,
        user: &UserInfo::admin(),
        moment: Moment::now(),
        timeout: None,
    };
    let target = Target { workspace, catalog: &catalog, kind, version };
    match create(&Shared::default(), target, &request).await {
        Ok(created) => field(&created.object, "status").unwrap().to_string(),
        Err(status) => status.message,
    }
}

#[tokio::test]
async fn calls_are_refused_when_their_policy_is_gone_and_the_plan_stays() {
    let files = directory(&[("policy.yaml", POLICY), ("schema.yaml", CALLING)]);
    let layers = [files.path().to_owned()];
    let outside = Outside { stand_in: Some(Arc::new(Echo)), ..Outside::default() };
    let (mut directory, report) = Directory::with(&layers, outside).unwrap();
    assert!(!report.has_errors(), "{:?}", lines(&files, &report));
    assert_eq!(answer(&root(&directory)).await, r#"{"found": 7}"#);

    write(&files, "policy.yaml", "");
    let report = directory.reload().unwrap();
    assert!(lines(&files, &report)[0].contains("there is no egress policy `acme`"), "{:?}", lines(&files, &report));
    assert_eq!(condition(&root(&directory), "answers.info.acme.example", "Served").0, "True LastGoodServed");
    assert_eq!(answer(&root(&directory)).await, "source found failed: there is no egress policy `acme`");

    // What allows less allows less at once.
    write(&files, "policy.yaml", &POLICY.replace("host: acme", "host: other"));
    directory.reload().unwrap();
    assert_eq!(
        answer(&root(&directory)).await,
        "source found failed: egress policy `acme` does not allow the host of the call"
    );

    write(&files, "policy.yaml", POLICY);
    directory.reload().unwrap();
    assert_eq!(condition(&root(&directory), "answers.info.acme.example", "Served").0, "True Served");
    assert_eq!(answer(&root(&directory)).await, r#"{"found": 7}"#);
}

#[tokio::test]
async fn what_a_policy_names_is_guarded_whatever_is_wrong_with_it() {
    let secret = "  auth: {bearer: {secretRef: {namespace: platform, name: acme, key: token}}}\n";
    let policy = format!("{POLICY}{secret}");
    let files = directory(&[("policy.yaml", &policy), ("schema.yaml", CALLING)]);
    let layers = [files.path().to_owned()];
    let outside = Outside { stand_in: Some(Arc::new(Echo)), ..Outside::default() };
    let (mut directory, _) = Directory::with(&layers, outside).unwrap();
    for (right, wrong) in [
        ("endpoints:", "endpoint:"),
        ("acme.example", "127.1"),
        ("acme.example", "'127.1'"),
        ("bearer:", "Bearer:"),
        ("key: token", "kee: token"),
        ("auth:", "oauth:"),
    ] {
        let text = policy.replace(right, wrong);
        assert_ne!(text, policy);
        write(&files, "policy.yaml", &text);
        assert!(directory.reload().unwrap().has_errors(), "{wrong}");
        let egress = root(&directory).catalog().egress().clone();
        assert!(egress.guards("root", "platform", "acme"), "{wrong}");
        assert!(!egress.guards("root", "platform", "other") && !egress.guards("team", "platform", "acme"));
        // It is there, and of no use: neither an older one nor none.
        assert_eq!(answer(&root(&directory)).await, "source found failed: egress policy `acme` is invalid", "{wrong}");
        write(&files, "policy.yaml", &policy);
        directory.reload().unwrap();
    }
}

#[test]
fn policies_say_what_is_wrong_with_them() {
    let files = directory(&[("policy.yaml", POLICY), ("workspaces/team/policy.yaml", POLICY)]);
    let (mut directory, _) = Directory::load(files.path()).unwrap();
    let condition = |directory: &Directory| condition_of(&root(directory), "EgressPolicy", "acme", "Accepted");
    assert_eq!(condition(&directory).0, "True Accepted");
    let team = directory.workspaces().get("team").unwrap();
    assert_eq!(condition_of(&team, "EgressPolicy", "acme", "Accepted").0, "False NotInRoot");

    write(&files, "policy.yaml", &POLICY.replace("host: acme.example", "host: '127.1'"));
    let report = directory.reload().unwrap();
    assert!(report.has_errors());
    let (status, message) = condition(&directory);
    assert_eq!(status, "False Invalid");
    assert!(message.contains("policy.yaml:5:22: `127.1`"), "{message}");

    write(&files, "policy.yaml", &POLICY.replace("endpoints", "endpoint"));
    let report = directory.reload().unwrap();
    assert_eq!(lines(&files, &report).iter().filter(|line| line.starts_with("policy.yaml")).count(), 1);
    let (status, message) = condition(&directory);
    assert_eq!(status, "False Invalid");
    assert!(message.contains("did you mean `endpoints`?"), "{message}");
}

#[test]
fn a_plan_is_compiled_again_when_the_kinds_change_and_only_then() {
    let files = directory(&[("crd.yaml", WIDGETS), ("schema.yaml", SCHEMA)]);
    let (mut directory, _) = Directory::load(files.path()).unwrap();
    let plan = |directory: &Directory| {
        Arc::clone(
            &root(directory).catalog().ephemeral_version("info.acme.example", "v1", "widgetinfos").unwrap().1.plan,
        )
    };
    let first = plan(&directory);
    let revision = root(&directory).objects().revision();
    write(&files, "crd.yaml", &WIDGETS.replace("app: x", "app: y"));
    directory.reload().unwrap();
    assert!(Arc::ptr_eq(&first, &plan(&directory)));
    assert!(root(&directory).objects().revision() > revision);
    write(&files, "crd.yaml", &WIDGETS.replace("size:", "length:"));
    let report = directory.reload().unwrap();
    assert!(report.has_errors(), "the field is gone");
    assert!(Arc::ptr_eq(&first, &plan(&directory)));
    write(&files, "crd.yaml", &WIDGETS.replace("default: 3", "default: 4"));
    directory.reload().unwrap();
    assert!(!Arc::ptr_eq(&first, &plan(&directory)));
}

#[test]
fn nothing_changes_when_nothing_has_changed() {
    let files = directory(&[("crd.yaml", WIDGETS), ("schema.yaml", SCHEMA)]);
    let (mut directory, _) = Directory::load(files.path()).unwrap();
    let print = |directory: &Directory| {
        let objects = Arc::clone(root(directory).objects());
        let list = |kind: &GroupVersionKind| {
            objects.list(kind, None, &LabelSelector::everything(), &FieldSelector::everything())
        };
        let all =
            objects.kinds().iter().flat_map(|kind| list(kind).items).map(|o| o.value().to_string()).collect::<Vec<_>>();
        all.join("\n")
    };
    let before = print(&directory);
    directory.reload().unwrap();
    assert_eq!(print(&directory), before);
}

#[test]
fn what_is_odd_is_told_in_place() {
    let files = directory(&[
        ("a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndatta: {}\n"),
        (
            "b.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Node\nmetadata: {name: m, namespace: x}\n",
        ),
        ("c.yaml", "apiVersion: foo.example/v1\nkind: Unknown\nmetadata: {name: u}\nx: 1\n"),
        ("d.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n"),
        ("d2.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: n}\n"),
        ("e.yaml", "- 1\n"),
        (
            "f.json",
            "{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"listed\"}}]}",
        ),
        (
            "g.yaml",
            "apiVersion: celandine.dev/v1alpha1\nkind: EgressPolicy\nmetadata: {name: p}\nspec: {endpoint: []}\n",
        ),
    ]);
    let (directory, report) = Directory::load(files.path()).unwrap();
    assert_eq!(
        lines(&files, &report),
        [
            "d.yaml:3:1: missing field `name`",
            "d2.yaml:3:18: `name` must be a string; quote it: `n` is a boolean in YAML",
            "e.yaml:1:1: an object of Kubernetes is a map",
            "b.yaml:3:18: `a` is at a.yaml:3:18 already; the last one counts",
            "a.yaml:4:1: unknown field `datta`",
            "b.yaml:7:32: a `Node` lives in no namespace",
            "g.yaml:4:8: unknown field `endpoint`; did you mean `endpoints`?",
        ]
    );
    let objects = root(&directory).objects().clone();
    assert!(objects.get(&GroupVersionKind::new("foo.example", "v1", "Unknown"), "", "u").is_some());
    assert!(objects.get(&GroupVersionKind::new("", "v1", "ConfigMap"), "default", "listed").is_some());
    assert!(report.render(Color::Never).contains("4 | datta: {}"));
    assert!(report.findings.iter().any(|f| f.severity() == Severity::Warning));
}

#[test]
fn names_that_are_taken_are_not_served_twice() {
    let other =
        SCHEMA.replace("plural: widgetinfos", "plural: otherinfos").replace(NAME, "otherinfos.info.acme.example");
    let files = directory(&[("crd.yaml", WIDGETS), ("schema.yaml", SCHEMA), ("other.yaml", &other)]);
    let (directory, report) = Directory::load(files.path()).unwrap();
    assert!(report.has_errors());
    assert_eq!(condition(&root(&directory), NAME, "Accepted").0, "False NamesConflict");
    assert_eq!(condition(&root(&directory), "otherinfos.info.acme.example", "Accepted").0, "True Accepted");
}

#[cfg(unix)]
#[test]
fn links_lead_nowhere_outside() {
    let outside = directory(&[("x.yaml", WIDGETS)]);
    let files = directory(&[("..data/in.yaml", WIDGETS)]);
    std::os::unix::fs::symlink(files.path().join("..data/in.yaml"), files.path().join("in.yaml")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("x.yaml"), files.path().join("out.yaml")).unwrap();
    let (directory, report) = Directory::load(files.path()).unwrap();
    assert_eq!(lines(&files, &report), ["`out.yaml` leads out of the directory, and is not loaded"]);
    assert_eq!(
        root(&directory)
            .objects()
            .list(
                &GroupVersionKind::new("acme.example", "v1", "Widget"),
                None,
                &LabelSelector::everything(),
                &FieldSelector::everything(),
            )
            .items
            .len(),
        1
    );
}

#[test]
fn no_directory_is_an_error() {
    assert!(Directory::load(Path::new("/nonexistent-directory-of-celandine")).is_err());
}

/// Loads until something holds.
async fn until(reloader: &Reloader, mut holds: impl FnMut() -> bool) {
    let mut reports = reloader.reports();
    let wait = async {
        while !holds() {
            reports.changed().await.unwrap();
        }
    };
    // A bound for a broken build only; nothing is measured by it.
    tokio::time::timeout(Duration::from_secs(60), wait).await.unwrap();
}

#[tokio::test]
async fn changes_are_loaded() {
    let files = directory(&[("crd.yaml", WIDGETS)]);
    let (directory, _) = Directory::load(files.path()).unwrap();
    let workspaces = Arc::clone(directory.workspaces());
    let reloader = Reloader::start(directory).unwrap();
    let serves = |path: &str| workspaces.get(path).is_some_and(|w| !served(&w).is_empty());
    write(&files, "schema.yaml", SCHEMA);
    until(&reloader, || serves("root")).await;
    // As editors save: a new file renamed over the old one.
    write(&files, "schema.yaml.tmp", &SCHEMA.replace("WidgetInfo", "WidgetFact"));
    fs::rename(files.path().join("schema.yaml.tmp"), files.path().join("schema.yaml")).unwrap();
    until(&reloader, || served(&workspaces.root().unwrap()) == ["WidgetFact/v1"]).await;
    fs::remove_file(files.path().join("schema.yaml")).unwrap();
    until(&reloader, || !serves("root")).await;
    write(&files, "workspaces/acme/crd.yaml", WIDGETS);
    write(&files, "workspaces/acme/schema.yaml", SCHEMA);
    until(&reloader, || serves("acme")).await;
    fs::remove_dir_all(files.path().join("workspaces/acme")).unwrap();
    until(&reloader, || workspaces.get("acme").is_none()).await;
}

#[test]
fn the_examples_are_right() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let (directory, report) = Directory::load(&examples).unwrap();
    assert!(report.findings.is_empty(), "{}", report.render(Color::Never));
    assert!(!served(&root(&directory)).is_empty());
}

#[test]
fn deep_objects_do_no_harm() {
    let deep = |levels: usize| {
        let value = format!("{}1{}", "{a: ".repeat(levels), "}".repeat(levels));
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: deep}}\ndata: {value}\n---\napiVersion: x.example/v1\nkind: X\nmetadata: {{name: deep}}\ndata: {value}\n"
        )
    };
    let files = directory(&[("a.yaml", &deep(95)), ("b.yaml", &deep(5_000))]);
    let (directory, report) = Directory::load(files.path()).unwrap();
    assert!(lines(&files, &report)[0].starts_with("b.yaml:4:"), "{:?}", lines(&files, &report));
    let object = root(&directory).objects().get(&GroupVersionKind::new("x.example", "v1", "X"), "", "deep").unwrap();
    assert!(serde_json::to_string(object.value()).unwrap().len() > 95);
}
