//! Schemas, what is found wrong with them, and what becomes of objects: `schemas/<case>.yaml` holds the input,
//! `schemas/<case>.expected` what comes of it. `UPDATE_GOLDEN=1` rewrites the latter.
//!
//! Absent: expectations in Rust.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::result_large_err,
    unreachable_pub,
    reason = "tests fail by panicking"
)]
use std::{env, fmt::Write, fs, path::Path};

use cel::Value;
use celandine::engine::{
    diagnostic::{Diagnostic, FieldPath, Place, Severity},
    schema::{Structural, admit, metadata, openapi, rules, simple, validate, validate::blocks_rules},
};

#[test]
fn golden() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schemas");
    let mut wrong = Vec::new();
    let mut cases = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "yaml") {
            continue;
        }
        cases += 1;
        let got = run(&fs::read_to_string(&path).unwrap());
        let expected = path.with_extension("expected");
        if env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&expected, got).unwrap();
        } else if fs::read_to_string(&expected).unwrap_or_default() != got {
            wrong.push(format!("{}:\n{got}", path.display()));
        }
    }
    assert!(cases > 0);
    assert!(wrong.is_empty(), "UPDATE_GOLDEN=1 takes what comes of these:\n{}", wrong.join("\n"));
}

fn run(input: &str) -> String {
    let input: Value = serde_saphyr::from_str(input).unwrap();
    let mut out = String::new();
    let field = |name: &str| match &input {
        Value::Map(map) => map.get(name).cloned(),
        _ => None,
    };
    let root = FieldPath::root();
    let (document, (schema, mut found)) = match (field("simple"), field("openAPIV3Schema")) {
        (Some(schema), _) => (schema.clone(), simple::parse(&schema, &root)),
        (_, Some(schema)) => (schema.clone(), Structural::from_openapi(&schema, &root)),
        _ => panic!("neither simple nor openAPIV3Schema"),
    };
    let mut compiled = rules::Rules::default();
    if let Some(schema) = &schema {
        let (rules, more) = rules::compile(&cel::Env::standard().build(), schema, &root);
        compiled = rules;
        found.extend(more);
    }
    for diagnostic in &found {
        writeln!(out, "{}", show(diagnostic, &document)).unwrap();
    }
    let Some(schema) = schema else { return out };
    if let Some(Value::Bool(true)) = field("publish") {
        writeln!(out, "{}", serde_json::to_string_pretty(&openapi(&schema)).unwrap()).unwrap();
    }
    let whole = metadata::whole(&schema);
    let Some(Value::List(objects)) = field("objects") else { return out };
    for object in objects.as_slice() {
        writeln!(out, "\n{}", serde_json::to_string(object).unwrap()).unwrap();
        let (value, unknown) = admit(&whole, object.clone());
        for path in unknown {
            writeln!(out, "unknown field {path}").unwrap();
        }
        if value != *object {
            writeln!(out, "-> {}", serde_json::to_string(&value).unwrap()).unwrap();
        }
        let mut errors = validate(&whole, &value, &root);
        if !errors.iter().any(blocks_rules) {
            let broken = compiled.evaluate(&value, &root, u64::MAX).unwrap();
            // Less is not enough, or gives the same.
            for allowed in (0..17).map(|bits| 1 << bits) {
                assert!(compiled.evaluate(&value, &root, allowed).is_none_or(|now| now == broken), "{allowed}");
            }
            errors.extend(broken);
        }
        for error in errors {
            writeln!(out, "{} {error}", error.reason.as_str()).unwrap();
        }
    }
    out
}

/// The finding with the text that it underlines.
fn show(found: &Diagnostic, document: &Value) -> String {
    let severity = match found.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let place = match &found.place {
        Place::Value => String::new(),
        Place::Key => " (name)".to_owned(),
        Place::Within(bytes) => match lookup(document, &found.path) {
            Some(Value::String(text)) => format!(" at `{}`", &text[bytes.clone()]),
            other => panic!("{} is no string but {other:?}", found.path),
        },
    };
    let help = found.help.as_ref().map(|help| format!("\n  help: {help}")).unwrap_or_default();
    format!("{severity} {}{place}: {}{help}", found.path, found.message)
}

fn lookup<'a>(document: &'a Value, path: &FieldPath) -> Option<&'a Value> {
    use celandine::engine::diagnostic::Step;
    path.steps().iter().try_fold(document, |value, step| match (value, step) {
        (Value::Map(map), Step::Field(name) | Step::Key(name)) => map.get(name),
        (Value::List(list), Step::Index(index)) => list.as_slice().get(*index),
        _ => None,
    })
}
