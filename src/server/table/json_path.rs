//! Kubernetes' JSONPath of printer columns, run by `jsonpath-rust` (RFC 9535).
//!
//! Absent: printing what is found (table).
use jsonpath_rust::{
    parser::{model::JpQuery, parse_json_path},
    query::js_path_process,
};
use serde_json::Value;

/// Longest path: the parser descends into parentheses, and each level takes bytes.
const MAX_LENGTH: usize = 256;

/// A parsed path.
#[derive(Clone, Debug)]
pub struct JsonPath(JpQuery);

impl JsonPath {
    /// Parses `.status.phase`, `.spec.my-field`, `.metadata.annotations.acme\.example/team`,
    /// `.status.conditions[?(@.type=="Ready")].status`; `None` for what is none.
    pub fn parse(text: &str) -> Option<JsonPath> {
        if text.len() > MAX_LENGTH {
            return None;
        }
        parse_json_path(&standard(text)?).ok().map(JsonPath)
    }

    /// The first value found.
    pub fn first<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        Some(js_path_process(&self.0, value).ok()?.into_iter().next()?.val())
    }
}

/// The same path in RFC 9535: from `$`, names quoted (it knows no `-` or `\.` in bare ones).
fn standard(text: &str) -> Option<String> {
    let text = text.trim();
    let text = text.strip_prefix('{').and_then(|t| t.strip_suffix('}')).unwrap_or(text);
    let text = text.strip_prefix('$').or_else(|| text.strip_prefix('@')).unwrap_or(text);
    let mut out = String::from("$");
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '.' => match chars.peek() {
                Some('.') => {
                    chars.next();
                    out.push_str("..");
                    // What follows `..` is a bare name, `*` or a bracket.
                    while let Some(c) = chars.next_if(|c| *c != '.' && *c != '[') {
                        out.push(c);
                    }
                }
                Some('*') => {
                    chars.next();
                    out.push_str(".*");
                }
                Some('[') | None => {}
                Some(_) => name(&mut chars, &mut out),
            },
            '[' => bracket(&mut chars, &mut out)?,
            _ => return None,
        }
    }
    Some(out)
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn name(chars: &mut Chars<'_>, out: &mut String) {
    out.push_str("['");
    while let Some(c) = chars.next_if(|c| *c != '.' && *c != '[') {
        match if c == '\\' { chars.next() } else { Some(c) } {
            Some(c @ ('\'' | '\\')) => out.extend(['\\', c]),
            Some(c) => out.push(c),
            None => {}
        }
    }
    out.push_str("']");
}

/// Copies up to the bracket that closes, quotes respected.
fn bracket(chars: &mut Chars<'_>, out: &mut String) -> Option<()> {
    out.push('[');
    let (mut depth, mut quote) = (1, None);
    while depth > 0 {
        let c = chars.next()?;
        out.push(c);
        match quote {
            Some(_) if c == '\\' => out.push(chars.next()?),
            Some(q) if c == q => quote = None,
            Some(_) => {}
            None => match c {
                '"' | '\'' => quote = Some(c),
                '[' => depth += 1,
                ']' => depth -= 1,
                _ => {}
            },
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(path: &str, expected: Option<Value>) {
        let value = json!({
            "metadata": {"name": "n", "annotations": {"acme.example/team": "t", "it's": 1}},
            "spec": {"my-field": 1, "list": [{"a": 1}, {"a": 2}], "1st": 7},
            "status": {"conditions": [{"type": "X", "status": "False"}, {"type": "Ready", "status": "True"}]},
        });
        assert_eq!(
            JsonPath::parse(path).and_then(|p| p.first(&value).cloned()),
            expected,
            "{path} {:?}",
            standard(path)
        );
    }

    #[test]
    fn reads_kubernetes_paths() {
        check(".metadata.name", Some(json!("n")));
        check("{.metadata.name}", Some(json!("n")));
        check(r".metadata.annotations.acme\.example/team", Some(json!("t")));
        check(".metadata.annotations['acme.example/team']", Some(json!("t")));
        check(r".metadata.annotations.it's", Some(json!(1)));
        check(".spec.my-field", Some(json!(1)));
        check(".spec.1st", Some(json!(7)));
        check(".spec.list[0].a", Some(json!(1)));
        check(".spec.list[-1].a", Some(json!(2)));
        check(".spec.list[*].a", Some(json!(1)));
        check(r#".status.conditions[?(@.type=="Ready")].status"#, Some(json!("True")));
        check(r#".status.conditions[?(@.type=='Ready')].status"#, Some(json!("True")));
        check(".spec.nothing.at.all", None);
        check("spec", None);
        check(".spec[", None);
        check(".spec.list[?(", None);
        check(
            "",
            Some(json!({
                "metadata": {"name": "n", "annotations": {"acme.example/team": "t", "it's": 1}},
                "spec": {"my-field": 1, "list": [{"a": 1}, {"a": 2}], "1st": 7},
                "status": {"conditions": [{"type": "X", "status": "False"}, {"type": "Ready", "status": "True"}]},
            })),
        );
    }

    #[test]
    fn does_not_descend_without_end() {
        assert!(JsonPath::parse(&format!(".a[?({}", "(".repeat(1000))).is_none());
        std::thread::Builder::new()
            .stack_size(2 * 1024 * 1024)
            .spawn(|| {
                for nested in ["(", "!(", "@[?(", "length(", "@.a[?(@"] {
                    let _ = JsonPath::parse(&format!(".a[?{}", nested.repeat(250 / nested.len())));
                }
                let deep = format!(".a[?{}@.b{}]", "(".repeat(120), ")".repeat(120));
                let _ = JsonPath::parse(&deep).map(|p| p.first(&json!({"a": [{"b": 1}]})).cloned());
            })
            .unwrap()
            .join()
            .unwrap();
    }
}
