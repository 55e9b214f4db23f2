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
