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
    let report = run(&[directory], Options { update, colour: false }).unwrap();
    assert_eq!(report.failed, 0, "\n{}", report.text);
    assert!(report.passed >= 70, "only {} cases", report.passed);
}
