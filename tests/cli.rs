//! The commands as people run them: what they print, and their exit codes.
//!
//! Absent: what answers say (golden).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::result_large_err,
    unreachable_pub,
    reason = "tests fail by panicking"
)]
use std::{fs, path::Path, process::Command};

struct Run {
    code: i32,
    out: String,
    err: String,
}

/// Runs `celandine` in the repository.
fn celandine(arguments: &[&str]) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_celandine"))
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Run { code: output.status.code().unwrap_or(-1), out: text(&output.stdout), err: text(&output.stderr) }
}

#[track_caller]
fn check(arguments: &[&str], code: i32, out: &[&str], err: &[&str]) {
    let run = celandine(arguments);
    assert_eq!(run.code, code, "{arguments:?}\n{}\n{}", run.out, run.err);
    for part in out {
        assert!(run.out.contains(part), "{arguments:?}: no {part:?} in\n{}\n{}", run.out, run.err);
    }
    for part in err {
        assert!(run.err.contains(part), "{arguments:?}: no {part:?} in\n{}", run.err);
    }
}

const CREATE: [&str; 5] = ["create", "-f", "examples/requests/bucketinfo.yaml", "--dir", "examples"];

#[track_caller]
fn create(more: &[&str], code: i32, out: &[&str], err: &[&str]) {
    check(&[&CREATE[..], more].concat(), code, out, err);
}

#[test]
fn create_prints_the_answer() {
    create(&[], 0, &["kind: BucketInfo\n", "status:\n  phase: Ready\n"], &[]);
    create(&["-o", "json"], 0, &["    \"kind\": \"BucketInfo\",\n"], &[]);
    create(&["-o", "name"], 0, &["bucketinfo.storage.acme.example/photos-now\n"], &[]);
    create(&["--as", "jane", "--dry-run=server"], 0, &["phase: Ready"], &[]);
    create(&["--workspace", "team-b"], 0, &["region: us-1"], &[]);
}

#[test]
fn every_request_of_the_examples_is_answered() {
    for request in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/requests")).unwrap() {
        let request = request.unwrap().path();
        // These ask services that are nowhere; golden suites hold what such services answer.
        if request.ends_with("usagereport.yaml") || request.ends_with("brokerhealth.yaml") {
            check(&["create", "-f", request.to_str().unwrap(), "--dir", "examples"], 1, &[], &["rror from server ("]);
            continue;
        }
        check(&["create", "-f", request.to_str().unwrap(), "--dir", "examples"], 0, &["\nstatus:\n"], &[]);
    }
}

#[test]
fn create_fails_as_kubectl_does() {
    let denied = "Error from server (Forbidden): error when creating \"examples/requests/bucketinfo.yaml\": \
                  buckets.s3.acme.example \"photos\" is forbidden: User \"sam\" cannot get";
    create(&["--as", "sam"], 1, &[], &[denied]);
    create(&["--workspace", "nowhere"], 1, &[], &["there is no workspace `nowhere`", "`root:team-b`"]);
    create(&["-n", "other"], 1, &[], &["You must pass '--namespace=default'"]);
    create(&["--as-group", "dev"], 2, &[], &["--as <USER>"]);
    create(&["--dyr-run=server"], 2, &[], &["--dry-run"]);
    check(&["create", "-f", "nowhere.yaml", "--dir", "examples"], 1, &[], &["error: nowhere.yaml: "]);
    check(&["create", "-f", "Cargo.lock", "--dir", "nowhere"], 1, &[], &["error: cannot read `nowhere`"]);
}

#[test]
fn lists_and_documents_are_answered_one_by_one() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("requests.yaml");
    let head = "apiVersion: storage.acme.example/v1\nkind: BucketInfo\n";
    let list = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: storage.acme.example/v1\n  kind: BucketInfo\n  metadata: \
                {name: a}\n  spec: {bucket: photos}\n";
    let text =
        format!("{list}---\n{head}spec: {{bucket: x}}\n---\n{head}metadata: {{name: c}}\nspec: {{bucket: backups}}\n");
    fs::write(&file, text).unwrap();
    check(
        &["create", "-f", file.to_str().unwrap(), "--dir", "examples", "-o", "name"],
        1,
        &["bucketinfo.storage.acme.example/a\n", "bucketinfo.storage.acme.example/c\n"],
        &[
            "The BucketInfo \"\" is invalid: spec.bucket: Invalid value: \"x\": spec.bucket in body should be at least 3 chars",
        ],
    );
    fs::write(&file, format!("{head}spec: {{bucket: photos, bukcet: 1}}\n")).unwrap();
    let arguments = ["create", "-f", file.to_str().unwrap(), "--dir", "examples", "-o", "name", "--validate=warn"];
    check(&arguments, 0, &["/<unknown>\n"], &["Warning: unknown field \"spec.bukcet\"\n"]);
    fs::write(&file, "apiVersion: storage.acme.example/v1\nkind: BucketInof\n").unwrap();
    check(
        &arguments,
        1,
        &[],
        &["no matches for kind \"BucketInof\"", "did you mean BucketInfo in storage.acme.example/v1?"],
    );
    fs::write(&file, "apiVersion: s3.acme.example/v1\nkind: Bucket\n").unwrap();
    check(&arguments, 1, &[], &["its objects are stored"]);
}

#[test]
fn check_points_at_mistakes() {
    check(&["check", "examples"], 0, &["0 errors, 0 warnings"], &[]);
    check(&["check", "examples/bucketinfo.yaml"], 0, &["0 errors, "], &[]);
    let directory = tempfile::tempdir().unwrap();
    for file in ["bucketinfo.yaml", "bucket-crds.yaml"] {
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(file)).unwrap();
        fs::write(directory.path().join(file), text.replace("bucket.status.phase", "bucket.status.phsae")).unwrap();
    }
    let file = directory.path().join("bucketinfo.yaml");
    for path in [directory.path(), &file] {
        check(&["check", path.to_str().unwrap()], 1, &["1 error, "], &["phsae", "^"]);
    }
    check(&["check", directory.path().join("bucket-crds.yaml").to_str().unwrap()], 0, &["0 errors, "], &[]);
}

#[test]
fn golden_tests_fail_on_a_difference_and_can_be_rewritten() {
    let directory = tempfile::tempdir().unwrap();
    let suite = directory.path().join("suite");
    let case = suite.join("case");
    fs::create_dir_all(&case).unwrap();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    fs::write(suite.join("suite.yaml"), format!("dir: {}\n", examples.display())).unwrap();
    fs::write(
        case.join("input.yaml"),
        "apiVersion: storage.acme.example/v1\nkind: BucketInfo\nspec: {bucket: photos}\n",
    )
    .unwrap();
    let path = suite.to_str().unwrap();
    check(&["test", path], 1, &["there is no expected.yaml", "--update", "0 passed, 1 failed\n"], &[]);
    check(&["test", path, "--update"], 0, &["updated suite/case", "1 passed (1 updated), 0 failed\n"], &[]);
    check(&["test", path], 0, &["ok      suite/case\n1 passed, 0 failed\n"], &[]);
    check(&["test", case.to_str().unwrap()], 0, &["1 passed, 0 failed\n"], &[]);

    let expected = case.join("expected.yaml");
    let text = fs::read_to_string(&expected).unwrap();
    fs::write(
        &expected,
        format!("# Comments and layout do not matter.\n{}", text.replace("phase: Ready", "phase: 'Ready'")),
    )
    .unwrap();
    check(&["test", path], 0, &["1 passed, 0 failed\n"], &[]);
    fs::write(&expected, text.replace("phase: Ready", "phase: Pending")).unwrap();
    check(&["test", path], 1, &["-  phase: Pending\n", "+  phase: Ready\n", "0 passed, 1 failed\n"], &[]);

    fs::write(case.join("case.yaml"), "usre: jane\n").unwrap();
    check(&["test", path], 1, &["unknown field `usre`", "case.yaml:1:1", "did you mean `user`?"], &[]);
    check(&["test", directory.path().join("nothing").to_str().unwrap()], 1, &[], &["error: "]);
}

#[test]
fn crds_are_up_to_date() {
    check(&["crds", "--check"], 0, &["up to date"], &[]);
}

#[test]
fn every_command_explains_itself() {
    for command in ["create", "serve", "check", "test", "crds"] {
        check(&[command, "--help"], 0, &["Examples:", "celandine "], &[]);
    }
    let flags = ["--secrets-dir <DIR>", "--advertise-address <ADDRESS>", "--max-requests-inflight <N>", "--log-level"];
    check(&["serve", "--help"], 0, &flags, &[]);
    check(&["--version"], 0, &["celandine "], &[]);
    check(&["serev"], 2, &[], &["serve"]);
}
