//! Which values of an ObjectMeta are valid: apimachinery's `ValidateObjectMeta`, in its words.
//!
//! Absent: the types of the fields (typed), the forms of names (names). A missing name is no error: nothing is stored under it.
use cel::{
    Value,
    value::{Key, Map},
};

use super::Metadata;
use crate::{
    api::shown,
    engine::{
        diagnostic::FieldPath,
        names::{dns1123_label, dns1123_subdomain, label_value, qualified_name},
        schema::{FieldError, field_error},
    },
};

/// Bytes of all annotations: apimachinery's `TotalAnnotationSizeLimitB`.
const MAX_ANNOTATIONS: usize = 256 * 1024;

/// Errors listed, as many as of a schema.
const MAX_ERRORS: usize = 256;

/// All that is wrong.
pub fn validate(metadata: &Metadata, namespaced: bool) -> Vec<FieldError> {
    let path = |field: &str| FieldPath::root().field("metadata").field(field);
    let mut errors = Vec::new();
    let mut invalid = |field: &str, value: &str, messages: Vec<String>| {
        if messages.is_empty() {
            return;
        }
        let path = path(field);
        let left = MAX_ERRORS.saturating_sub(errors.len());
        let messages = messages.iter().take(left);
        errors.extend(messages.map(|message| field_error::invalid(&path, &Value::from(&*shown(value)), message)));
    };
    if let Some(base) = &metadata.generate_name {
        invalid("generateName", base, dns1123_subdomain(&without_trailing_dash(base)));
    }
    if let Some(name) = &metadata.name {
        invalid("name", name, dns1123_subdomain(name));
    }
    if let (true, Some(namespace)) = (namespaced, &metadata.namespace) {
        invalid("namespace", namespace, dns1123_label(namespace));
    }
    for (key, value) in sorted(&metadata.labels) {
        invalid("labels", key, qualified_name(key));
        invalid("labels", value, label_value(value));
    }
    for (key, _) in sorted(&metadata.annotations) {
        invalid("annotations", key, qualified_name(&key.to_lowercase()));
    }
    let size: usize = sorted(&metadata.annotations).iter().map(|(key, value)| key.len() + value.len()).sum();
    if size > MAX_ANNOTATIONS {
        errors.push(field_error::too_long(&path("annotations"), MAX_ANNOTATIONS as u64));
    }
    if namespaced && metadata.namespace.is_none() {
        errors.push(field_error::required(&path("namespace"), ""));
    }
    errors
}

/// The entries of a map of strings, in an order that does not depend on the client's.
fn sorted(map: &Map) -> Vec<(&str, &str)> {
    let mut entries: Vec<(&str, &str)> = Vec::with_capacity(map.len());
    for (key, value) in map.iter() {
        if let (Key::String(key), Value::String(value)) = (key, value) {
            entries.push((key, value));
        }
    }
    entries.sort_unstable();
    entries
}

/// A generated name goes on after the dash.
fn without_trailing_dash(base: &str) -> String {
    match base.strip_suffix('-') {
        Some(rest) if !rest.is_empty() => format!("{}a", rest.get(..rest.len() - 1).unwrap_or_default()),
        _ => base.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use cel::value::MapBuilder;

    use super::*;

    fn map(entries: &[(&str, &str)]) -> Map {
        let mut builder = MapBuilder::default();
        for (key, value) in entries {
            builder.insert(*key, (*value).into());
        }
        builder.build()
    }

    #[track_caller]
    fn check(metadata: Metadata, expected: &[&str]) {
        let got = validate(&metadata, metadata.namespace.is_some());
        assert_eq!(got.len(), expected.len(), "{got:?}");
        for (got, expected) in got.iter().zip(expected) {
            assert!(got.to_string().starts_with(expected), "{got} is not {expected}");
        }
    }

    #[test]
    fn names() {
        let named = |name: &str| Metadata { name: Some(name.into()), ..Metadata::default() };
        check(named("a.b-c"), &[]);
        check(named("A"), &["metadata.name: Invalid value: \"A\": a lowercase RFC 1123 subdomain mus"]);
        check(named("a..b"), &["metadata.name: Invalid value: \"a..b\": a lowercase RFC 1123 subdomain "]);
        let base = |base: &str| Metadata { generate_name: Some(base.into()), ..Metadata::default() };
        check(base("q-"), &[]);
        check(base("-"), &["metadata.generateName: Invalid value: \"-\": a lowercase RFC 1123 subdo"]);
        check(Metadata::default(), &[]);
        check(
            Metadata { namespace: Some("a.b".into()), ..Metadata::default() },
            &["metadata.namespace: Invalid value: \"a.b\": a lowercase RFC 1123 label m"],
        );
    }

    #[test]
    fn labels_and_annotations() {
        let labels = map(&[("example.com/a", "b"), ("/x", "ok"), ("a/b/c", ""), ("v", "not ok")]);
        check(
            Metadata { labels, ..Metadata::default() },
            &[
                "metadata.labels: Invalid value: \"/x\": prefix part must be non-empty",
                "metadata.labels: Invalid value: \"a/b/c\": a valid label key must consis",
                "metadata.labels: Invalid value: \"not ok\": a valid label must be an empt",
            ],
        );
        let annotations = map(&[("Example.com/A", &"x".repeat(256 * 1024))]);
        check(
            Metadata { annotations, ..Metadata::default() },
            &["metadata.annotations: Too long: may not be more than 262144 bytes"],
        );
    }
}
