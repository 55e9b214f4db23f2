//! The CustomResourceDefinitions of Celandine's own kinds, generated from the types.
//!
//! Absent: writing them anywhere (cli).
use kube::CustomResourceExt;
use serde_json::{Value, json};

use crate::api::{EgressPolicy, EphemeralSchema};

/// The file name and text of each CRD, in the order of the names.
pub fn crds() -> Vec<(&'static str, String)> {
    documents().into_iter().map(|(file, crd)| (file, render(&crd))).collect()
}

/// The same as documents, for those who read the schemas.
pub fn documents() -> Vec<(&'static str, Value)> {
    [
        ("celandine.dev_egresspolicies.yaml", EgressPolicy::crd()),
        ("celandine.dev_ephemeralschemas.yaml", EphemeralSchema::crd()),
    ]
    .into_iter()
    .filter_map(|(file, crd)| {
        let mut crd = serde_json::to_value(crd).ok()?;
        structural(&mut crd);
        Some((file, crd))
    })
    .collect()
}

/// Rewrites what schemars says into what kube-apiserver accepts and people read: no unsigned formats (unknown to it), no
/// `nullable` on optional fields (a null there is left out by clients), no line breaks within a sentence.
fn structural(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(structural),
        Value::Object(map) => {
            if map.get("format").and_then(Value::as_str).is_some_and(|f| f.starts_with("uint")) {
                map.insert("format".into(), json!("int32"));
                for bound in ["minimum", "maximum"] {
                    if let Some(whole) = map.get(bound).and_then(Value::as_f64) {
                        // Bounds are written as whole numbers: they are below 2^31 by the types' own ranges.
                        map.insert(bound.into(), json!(whole as i64));
                    }
                }
            }
            map.remove("nullable");
            if let Some(Value::String(text)) = map.get_mut("description") {
                *text = text.replace('\n', " ");
            }
            map.values_mut().for_each(structural);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn render(crd: &Value) -> String {
    let body = serde_saphyr::to_string(crd).unwrap_or_default();
    format!("# Generated from src/api by `celandine crds`; do not edit.\n{body}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a structural schema may not hold, by path.
    fn offences(path: &str, value: &Value, found: &mut Vec<String>) {
        if let Value::Object(map) = value {
            for (key, inner) in map {
                let path = format!("{path}.{key}");
                let bad =
                    matches!(key.as_str(), "$ref" | "definitions" | "$defs" | "nullable" | "anyOf" | "oneOf" | "allOf")
                        || (key == "format" && inner.as_str().is_some_and(|f| f.starts_with("uint")));
                if bad {
                    found.push(path.clone());
                }
                offences(&path, inner, found);
            }
        }
        if let Value::Array(items) = value {
            items.iter().for_each(|inner| offences(path, inner, found));
        }
    }

    #[test]
    fn schemas_are_structural() {
        let mut found = vec![];
        for (file, crd) in documents() {
            offences(file, &crd["spec"]["versions"], &mut found);
        }
        assert_eq!(found, Vec::<String>::new());
    }

    #[test]
    fn committed_crds_are_not_stale() {
        let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("crds");
        for (file, text) in crds() {
            if std::env::var_os("UPDATE_GOLDEN").is_some() {
                std::fs::create_dir_all(&directory).unwrap();
                std::fs::write(directory.join(file), &text).unwrap();
            }
            let committed = std::fs::read_to_string(directory.join(file)).unwrap_or_default();
            assert!(committed == text, "crds/{file} is stale; run `cargo run -- crds`");
        }
    }
}
