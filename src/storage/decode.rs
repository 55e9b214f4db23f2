//! Request bodies to values: media types, JSON, YAML, and the words of their errors.
//!
//! Absent: what a body must hold (strategy), HTTP itself (server), response bodies (encode).
mod json;
mod words;
mod yaml;

use cel::Value;

/// Bytes of a body, kube-apiserver's `MaxRequestBodyBytes`.
pub const MAX_BODY: usize = 3 * 1024 * 1024;

/// Bytes of the caller's text that an error repeats; kube-apiserver repeats all 3 MiB of it.
const MAX_ECHO: usize = 4096;

/// Repeated fields listed for one body, as Kubernetes' decoder lists at most.
const MAX_REPEATED: usize = 100;

/// The media types of bodies, as the 415 answer lists them.
pub const MEDIA_TYPES: &str = "application/json, application/yaml";

/// How a body is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `application/json`, and no content type at all.
    Json,
    /// `application/yaml`
    Yaml,
}

/// A body's value and what `fieldValidation=Strict` holds against its text.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// The value; of repeated fields the last one.
    pub value: Value,
    /// `duplicate field "spec.bucket"`, one message each.
    pub strict: Vec<String>,
}

/// Why a body is no object. The caller's fault, always.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// 415
    #[error("the body of the request was in an unknown format - accepted media types include: {MEDIA_TYPES}")]
    UnknownFormat,
    /// 413
    #[error("limit is {MAX_BODY}")]
    TooLarge,
    /// 400: not a JSON or YAML object with a kind.
    #[error("the object provided is unrecognized (must be of type {kind}): {problem} ({summary})")]
    Unrecognized {
        /// The kind that the path wants.
        kind: String,
        /// What is wrong.
        problem: String,
        /// The beginning of the body.
        summary: String,
    },
}

/// The format of a request's `Content-Type`; parameters do not matter.
///
/// # Errors
/// [`DecodeError::UnknownFormat`].
pub fn format(content_type: Option<&str>) -> Result<Format, DecodeError> {
    let media_type = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    match media_type {
        "" => Ok(Format::Json),
        json if json.eq_ignore_ascii_case("application/json") => Ok(Format::Json),
        yaml if yaml.eq_ignore_ascii_case("application/yaml") => Ok(Format::Yaml),
        _ => Err(DecodeError::UnknownFormat),
    }
}

/// The object in `body`, which has a `kind`; `expected` is the kind that the path wants, for the error.
///
/// # Errors
/// [`DecodeError::TooLarge`], [`DecodeError::Unrecognized`].
pub fn object(format: Format, body: &[u8], expected: &str) -> Result<Decoded, DecodeError> {
    if body.len() > MAX_BODY {
        return Err(DecodeError::TooLarge);
    }
    parse(format, body)
        .and_then(|decoded| typed(decoded, body))
        .map_err(|problem| DecodeError::unrecognized(expected, problem, body))
}

/// Any value that a body says.
///
/// # Errors
/// What is wrong with it, as kube-apiserver words it.
pub fn value(format: Format, body: &[u8]) -> Result<Value, String> {
    parse(format, body).map(|decoded| decoded.value)
}

impl DecodeError {
    /// A body that is not of the kind that the path wants.
    pub fn unrecognized(expected: &str, problem: String, body: &[u8]) -> DecodeError {
        DecodeError::Unrecognized { kind: expected.into(), problem, summary: summary(body) }
    }
}

fn parse(format: Format, body: &[u8]) -> Result<Decoded, String> {
    match format {
        Format::Json => {
            json::parse(body).map_err(|problem| format!("couldn't get version/kind; json parse error: {problem}"))
        }
        Format::Yaml => {
            let text = std::str::from_utf8(body).map_err(|_| "yaml: invalid UTF-8".to_owned())?;
            yaml::parse(text)
        }
    }
}

/// Go's words for a body that is no object, or has no kind.
fn typed(decoded: Decoded, body: &[u8]) -> Result<Decoded, String> {
    const META: &str =
        r#"struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }"#;
    let prefix = "couldn't get version/kind; json parse error: json: cannot unmarshal";
    let missing = |body: &[u8]| {
        let body = String::from_utf8_lossy(body.get(..MAX_ECHO).unwrap_or(body));
        format!("Object 'Kind' is missing in '{body}'")
    };
    let map = match &decoded.value {
        Value::Map(map) => map,
        Value::Null => return Err(missing(body)),
        other => return Err(format!("{prefix} {} into Go value of type {META}", json_type(other))),
    };
    for field in ["apiVersion", "kind"] {
        match map.get(field) {
            None | Some(Value::Null | Value::String(_)) => {}
            Some(other) => {
                return Err(format!("{prefix} {} into Go struct field .{field} of type string", json_type(other)));
            }
        }
    }
    match map.get("kind") {
        Some(Value::String(kind)) if !kind.is_empty() => Ok(decoded),
        _ => Err(missing(body)),
    }
}

/// What `encoding/json` calls the type of a value.
pub(super) fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Bool(_) => "bool",
        Value::Int(_) | Value::Uint(_) | Value::Double(_) => "number",
        Value::List(_) => "array",
        Value::Map(_) => "object",
        Value::Null => "null",
        _ => "string",
    }
}

/// The beginning of a body as kube-apiserver quotes it: text where it looks like JSON, else hexadecimal digits.
fn summary(body: &[u8]) -> String {
    const SHOWN: usize = 30;
    let (shown, rest) = body.split_at(body.len().min(SHOWN));
    let dots = if rest.is_empty() { "" } else { " ..." };
    match shown.first() {
        None => "<empty>".into(),
        Some(b'{') => format!("{}{dots}", String::from_utf8_lossy(shown)),
        Some(_) => shown.iter().map(|byte| format!("{byte:02x}")).collect::<String>() + dots,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(format: Format, body: &str, expected: Result<&[&str], &str>) {
        match (object(format, body.as_bytes(), "BucketInfo"), expected) {
            (Ok(decoded), Ok(strict)) => assert_eq!(decoded.strict, strict, "{body}"),
            (Err(error), Err(message)) => assert_eq!(error.to_string(), message, "{body}"),
            (got, _) => panic!("{body}: {got:?}"),
        }
    }

    #[test]
    fn bodies_that_are_no_objects() {
        let u = "the object provided is unrecognized (must be of type BucketInfo): ";
        let check = |body: &str, rest: &str| check(Format::Json, body, Err(&format!("{u}{rest}")));
        check("", "couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)");
        check(
            r#"{"apiVersion":"crd.example.io/v1","#,
            "couldn't get version/kind; json parse error: unexpected end of JSON input ({\"apiVersion\":\"crd.example.io/ ...)",
        );
        check(
            "[]",
            "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { \
             APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" } (5b5d)",
        );
        check(r#"{"a":1}"#, r#"Object 'Kind' is missing in '{"a":1}' ({"a":1})"#);
        check("null", "Object 'Kind' is missing in 'null' (6e756c6c)");
        check(
            r#"{"kind":1}"#,
            "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of \
             type string ({\"kind\":1})",
        );
        check(
            r#"{"kind":"A"} {}"#,
            "couldn't get version/kind; json parse error: invalid character '{' after top-level value \
             ({\"kind\":\"A\"} {})",
        );
        check(
            &format!("{}1{}", "[".repeat(5000), "]".repeat(5000)),
            &format!("couldn't get version/kind; json parse error: exceeded max depth ({} ...)", "5b".repeat(30)),
        );
    }

    #[test]
    fn duplicates_are_listed_once_by_path() {
        check(
            Format::Json,
            r#"{"kind":"A","spec":{"b":1,"b":2,"b":3,"c":[{"d":1},{"d":1,"d":2}]}}"#,
            Ok(&[r#"duplicate field "spec.b""#, r#"duplicate field "spec.c[1].d""#]),
        );
        check(
            Format::Yaml,
            "kind: A\nspec:\n  b: 1\n  b: 2\n  c:\n  - d: 1\n    d: 2\n",
            Ok(&[
                "yaml: unmarshal errors:\n  line 4: key \"b\" already set in map\n  line 7: key \"d\" already set in map",
            ]),
        );
    }

    #[test]
    fn of_repeated_fields_the_last_counts() {
        for (format, body) in [(Format::Json, r#"{"kind":"A","b":1,"b":2}"#), (Format::Yaml, "kind: A\nb: 1\nb: 2\n")] {
            let decoded = object(format, body.as_bytes(), "A").unwrap();
            let Value::Map(map) = decoded.value else { panic!("no map") };
            assert!(matches!(map.get("b"), Some(Value::Int(2))), "{body}");
        }
    }

    #[test]
    fn yaml_values_are_those_of_kubernetes() {
        let body = "kind: A\na: yes\nb: 0o17\nc: 1.5\nd: ~\ne: '1'\n1: x\nf: 2026-01-01\ng: &x [1]\nh: *x\nnull: 1\n";
        let decoded = object(Format::Yaml, body.as_bytes(), "A").unwrap();
        let Value::Map(map) = decoded.value else { panic!("no map") };
        let text = format!("{map:?}");
        assert!(matches!(map.get("a"), Some(Value::Bool(true))), "{text}");
        assert!(matches!(map.get("c"), Some(Value::Double(_))), "{text}");
        assert!(matches!(map.get("d"), Some(Value::Null)), "{text}");
        assert!(matches!(map.get("e"), Some(Value::String(_))), "{text}");
        assert!(matches!(map.get("1"), Some(Value::String(_))), "{text}");
        assert!(matches!(map.get("f"), Some(Value::String(_))), "{text}");
        assert!(matches!(map.get("h"), Some(Value::List(_))), "{text}");
    }

    #[test]
    fn yaml_mistakes_have_lines_and_bombs_are_errors() {
        let error = |body: &str| object(Format::Yaml, body.as_bytes(), "A").unwrap_err().to_string();
        let text = error("kind: A\nspec: [\n");
        assert!(text.contains("(must be of type A): yaml: line "), "{text}");
        let bomb = "kind: A\na: &a [1,1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n\
                    c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n\
                    e: [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\n";
        let text = error(bomb);
        assert!(text.contains("yaml: "), "{text}");
        let text = error(&format!("kind: A\na: {}{}\n", "[".repeat(2000), "]".repeat(2000)));
        assert!(text.contains("yaml: "), "{text}");
    }

    /// Every prefix of a body, and every body with one byte changed, is an object or a worded error: where the parser refuses
    /// a text, Go's scanner has words for it, unless it is about UTF-8.
    #[test]
    fn no_body_is_without_words() {
        let body = r#"{"kind":"A","a":[1,-2.5e3,true,false,null,"x\u00e9\n"],"b":{"c":{}}}"#.as_bytes();
        let mut bodies: Vec<Vec<u8>> = (0..body.len()).map(|end| body[..end].to_vec()).collect();
        for at in 0..body.len() {
            for byte in [b'"', b'{', b'}', b',', b'0', b'\\', b'\n', 0, 0xff] {
                let mut changed = body.to_vec();
                changed[at] = byte;
                bodies.push(changed);
            }
        }
        for body in bodies {
            let text = String::from_utf8_lossy(&body);
            if let Err(error) = object(Format::Json, &body, "A") {
                let message = error.to_string();
                let worded = !message.contains(" at line ") || body.contains(&0xff);
                assert!(worded, "{text}: {message}");
            }
            let _ = object(Format::Yaml, &body, "A");
        }
    }

    #[test]
    fn media_types() {
        assert_eq!(format(None), Ok(Format::Json));
        assert_eq!(format(Some("")), Ok(Format::Json));
        assert_eq!(format(Some("application/json; charset=utf-8")), Ok(Format::Json));
        assert_eq!(format(Some("Application/YAML")), Ok(Format::Yaml));
        assert_eq!(format(Some("application/cbor")), Err(DecodeError::UnknownFormat));
        assert_eq!(format(Some("text/plain")), Err(DecodeError::UnknownFormat));
    }
}
