//! Runs every suite of tests/golden; `UPDATE_GOLDEN=1` rewrites what is expected.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::result_large_err,
    unreachable_pub,
    reason = "tests fail by panicking"
)]
use std::path::PathBuf;

use celandine::cli::golden::{Options, run};

#[test]
fn golden_suites() {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let update = std::env::var_os("UPDATE_GOLDEN").is_some_and(|value| value == "1");
    let report = run(&[directory], Options { update, ..Options::default() }).unwrap();
    assert_eq!(report.failed, 0, "\n{}", report.text);
    for (request, input) in [("usagereport", "usagereport/one-day"), ("brokerhealth", "brokerhealth/healthy")] {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let read = |path: PathBuf| std::fs::read_to_string(path).unwrap();
        let request = read(root.join(format!("examples/requests/{request}.yaml")));
        assert_eq!(
            request,
            read(root.join(format!("tests/golden/{input}/input.yaml"))),
            "the example is what is tested"
        );
    }
    assert!(report.passed >= 70, "only {} cases", report.passed);
}

/// What is wrong with a case or a suite fails it, and it alone; a case whose input is forgotten is not passed over.
#[test]
fn broken_cases_fail_alone() {
    let dir = tempfile::tempdir().unwrap();
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let bucketinfo = own.join("tests/golden/bucketinfo");
    let answered = |name: &str| std::fs::read_to_string(bucketinfo.join("answered").join(name)).unwrap();
    let write = |path: &str, text: &str| {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let examples = own.join("examples").display().to_string();
    let suite = std::fs::read_to_string(bucketinfo.join("suite.yaml")).unwrap().replace("../../../examples", &examples);
    write("a/suite.yaml", &suite);
    write("b/suite.yaml", "schema: nowhere.yaml\n");
    write("c/suite.yaml", &format!("{suite}wrokspace: x\nfoo: y\n"));
    for case in ["both", "good", "key", "missing"] {
        write(&format!("a/{case}/input.yaml"), &answered("input.yaml"));
        write(&format!("a/{case}/expected.yaml"), &answered("expected.yaml"));
    }
    write("a/key/case.yaml", "usr: jane\n");
    write("a/both/input.json", "{}");
    std::fs::remove_file(dir.path().join("a/missing/input.yaml")).unwrap();
    let report = run(&[dir.path().to_owned()], Options::default()).unwrap();
    assert_eq!((report.passed, report.failed), (1, 5), "{}", report.text);
    let lines = ["FAILED  a/both", "ok      a/good", "FAILED  a/key", "FAILED  a/missing", "FAILED  b", "FAILED  c"];
    let found: Vec<&str> =
        report.text.lines().filter(|line| line.starts_with("ok") || line.starts_with("FAILED")).collect();
    assert_eq!(found, lines, "{}", report.text);
    for words in ["did you mean `user`?", "did you mean `workspace`?", "unknown field `foo`", "nowhere.yaml"] {
        assert!(report.text.contains(words), "{words}: {}", report.text);
    }
    let nowhere = run(&[dir.path().join("a/nowhere")], Options::default());
    assert!(nowhere.is_err_and(|error| error.to_string().contains("there is no case")));
}
