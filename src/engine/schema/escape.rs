//! Names of fields in expressions, as Kubernetes escapes them.
//!
//! Absent: which fields there are (types).
use std::borrow::Cow;

use cel::is_reserved;

/// The CEL name of a field: `a.b` is `a__dot__b`. `None` where it has none: it is no identifier even when escaped.
pub fn escape(name: &str) -> Option<Cow<'_, str>> {
    // A reserved word is reached by `__word__`, and where the parser allows it, behind a dot, plainly.
    if is_reserved(name) {
        return Some(Cow::Owned(format!("__{name}__")));
    }
    if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        return None;
    }
    if !name.contains(['.', '-', '/']) && !name.contains("__") {
        return is_identifier(name).then_some(Cow::Borrowed(name));
    }
    let escaped = name
        .replace("__", "__underscores__")
        .replace('.', "__dot__")
        .replace('-', "__dash__")
        .replace('/', "__slash__");
    is_identifier(&escaped).then_some(Cow::Owned(escaped))
}

fn is_identifier(name: &str) -> bool {
    name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn names_are_escaped_as_in_kubernetes() {
        let cases = [
            ("name", Some("name")),
            ("dot.ted", Some("dot__dot__ted")),
            ("x-dash", Some("x__dash__dash")),
            ("sl/ash", Some("sl__slash__ash")),
            ("a__b", Some("a__underscores__b")),
            ("a__dash__b", Some("a__underscores__dash__underscores__b")),
            ("__under__", Some("__underscores__under__underscores__")),
            ("namespace", Some("__namespace__")),
            ("in", Some("__in__")),
            ("type", Some("type")),
            ("under_score", Some("under_score")),
            ("$ref", None),
            ("1bad", None),
            ("ü", None),
            ("", None),
        ];
        for (name, expected) in cases {
            assert_eq!(escape(name).as_deref(), expected, "{name}");
        }
    }
}
