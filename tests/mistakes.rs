//! Authors' mistakes and what `celandine check` says of them: `tests/mistakes/<mistake>.yaml` with its `.txt` beside it.
//!
//! Every file is checked in a directory with `tests/mistakes/workspace/` only. `UPDATE_GOLDEN=1` rewrites the texts.
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

/// Where the caret of the first error must stand, by what is under it: guards the goldens against a careless rewrite.
const UNDERLINED: &[(&str, &str)] = &[
    ("field-typo", "phsae"),
    ("field-typo-in-list-element", "sizes"),
    ("field-typo-in-object", "buckt"),
    ("variable-typo", "byte"),
    ("source-typo", "object5"),
    ("function-typo", "timstamp"),
    ("method-typo", "siz"),
    ("bad-marker", "requird"),
    ("bad-marker-value", "three"),
    ("bad-simple-type", "strng"),
    ("reserved-id", "request"),
    ("id-not-an-identifier", "stored-objects"),
    ("block-scalar", "strin"),
    ("folded-scalar", "objekts"),
    ("escapes-in-quotes", "buckett"),
    ("schema-field-typo", "projecton"),
    ("unknown-field-path", "sinc"),
    ("bad-selector", "matchLabel"),
    ("http-unknown-policy", "acme-metric"),
    ("http-templated-host", "${object.spec.host}"),
    ("http-forbidden-header", "Authorization"),
    ("http-type-misused", "usage.size()"),
    ("http-two-ways-of-pages", "pagination"),
    // A mistake of form hides no other.
    ("selector-typo-and-more", "phsae"),
    ("duplicate-id-and-more", "phsae"),
    ("missing-expression", "phsae"),
    ("wrong-name-and-more", "phsae"),
    ("both-schema-forms-and-more", "phsae"),
    ("missing-group", "phsae"),
    ("webhook-and-projection", "phsae"),
    ("duplicate-variable", "phsae"),
    ("duplicate-version", "phsae"),
    ("duplicate-key-and-more", "phsae"),
    ("wrong-api-version", "phsae"),
    ("structural-rules", "phsae"),
    ("three-cycles", "phsae"),
    ("cycle-through-condition", "byts"),
    ("for-each-map", "phsae"),
    ("conditions", "phsae"),
    ("selectors", "phsae"),
    ("empty-group", "phsae"),
    // The place of the mistake, not where the parser gave up.
    ("yaml-bad-escape", "\\d"),
    ("misspelt-kind", "EphemeralShema"),
];

/// The words under the carets of a report: of `N | line` and the marker line below it.
fn underlined(report: &str) -> Vec<String> {
    let lines: Vec<&str> = report.lines().collect();
    let after_bar = |line: &str| line.split_once("| ").map(|(_, rest)| rest.to_owned());
    let pairs = lines.windows(2).filter_map(|pair| Some((after_bar(pair[0])?, after_bar(pair[1])?)));
    pairs
        .filter(|(_, marks)| marks.contains('^') && marks.trim_matches([' ', '^']).is_empty())
        .map(|(line, marks)| {
            let start = marks.chars().position(|c| c == '^').unwrap();
            line.chars().skip(start).take(marks.chars().filter(|c| *c == '^').count()).collect()
        })
        .collect()
}

fn check(case: &Path) -> String {
    let dir = tempfile::tempdir().unwrap();
    let workspace = case.with_file_name("workspace");
    for entry in fs::read_dir(workspace).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, dir.path().join(path.file_name().unwrap())).unwrap();
    }
    fs::copy(case, dir.path().join("schema.yaml")).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_celandine"))
        .args(["check", "schema.yaml"])
        .current_dir(dir.path())
        .output()
        .unwrap();
    let code = output.status.code().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    format!("{}{}exit code {code}\n", text(output.stdout), text(output.stderr))
}

#[test]
fn mistakes_are_reported_at_their_place() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mistakes");
    let mut cases: Vec<_> = fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect();
    cases.retain(|path| path.extension().is_some_and(|e| e == "yaml"));
    cases.sort();
    assert!(cases.len() >= 20, "{} mistakes", cases.len());
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut wrong = Vec::new();
    for case in cases {
        let name = case.file_stem().unwrap().to_str().unwrap();
        let report = check(&case);
        if let Some((_, word)) = UNDERLINED.iter().find(|(case, _)| *case == name) {
            let found = underlined(&report);
            if !found.iter().any(|w| w == word) {
                wrong.push(format!("{name}: `{word}` is not underlined, but {found:?}:\n{report}"));
            }
        }
        let golden = case.with_extension("txt");
        if update {
            fs::write(&golden, &report).unwrap();
        }
        let expected = fs::read_to_string(&golden).unwrap_or_default();
        if report != expected {
            let diff = similar::TextDiff::from_lines(&expected, &report);
            wrong.push(format!("{name}:\n{}", diff.unified_diff().header("expected", "found")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
