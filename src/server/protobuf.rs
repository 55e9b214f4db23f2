//! Kubernetes' protobuf envelope and, within it, the few review messages that kubectl posts, as JSON.
//!
//! Absent: any other message; writing protobuf (answers are JSON).
use serde_json::{Map, Value};

/// What every Kubernetes protobuf body begins with.
const MAGIC: &[u8] = b"k8s\0";

/// Why a body could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProtobufError {
    /// No envelope.
    #[error("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")]
    Magic,
    /// Not well-formed.
    #[error("unexpected EOF or malformed field in the protobuf message")]
    Malformed,
    /// A kind that is not read from protobuf.
    #[error(
        "only reviews of authentication.k8s.io and authorization.k8s.io are read as protobuf; send application/json"
    )]
    Kind,
}

/// The fields of a message that are read: number, JSON name, shape.
type Fields = &'static [(u64, &'static str, Shape)];

#[derive(Clone, Copy)]
enum Shape {
    String,
    Strings,
    Message(Fields),
    /// `map<string, ExtraValue>`, where ExtraValue is a message of repeated strings in field 1.
    Extra,
}

const RESOURCE_ATTRIBUTES: Fields = &[
    (1, "namespace", Shape::String),
    (2, "verb", Shape::String),
    (3, "group", Shape::String),
    (4, "version", Shape::String),
    (5, "resource", Shape::String),
    (6, "subresource", Shape::String),
    (7, "name", Shape::String),
];
const NON_RESOURCE_ATTRIBUTES: Fields = &[(1, "path", Shape::String), (2, "verb", Shape::String)];
const METADATA: Fields = &[(1, "name", Shape::String), (3, "namespace", Shape::String)];
const SELF_ACCESS: Fields = &[
    (1, "resourceAttributes", Shape::Message(RESOURCE_ATTRIBUTES)),
    (2, "nonResourceAttributes", Shape::Message(NON_RESOURCE_ATTRIBUTES)),
];
const ACCESS: Fields = &[
    (1, "resourceAttributes", Shape::Message(RESOURCE_ATTRIBUTES)),
    (2, "nonResourceAttributes", Shape::Message(NON_RESOURCE_ATTRIBUTES)),
    (3, "user", Shape::String),
    (4, "groups", Shape::Strings),
    (5, "extra", Shape::Extra),
    (6, "uid", Shape::String),
];
const SELF_ACCESS_REVIEW: Fields =
    &[(1, "metadata", Shape::Message(METADATA)), (2, "spec", Shape::Message(SELF_ACCESS))];
const ACCESS_REVIEW: Fields = &[(1, "metadata", Shape::Message(METADATA)), (2, "spec", Shape::Message(ACCESS))];
const RULES_REVIEW: Fields =
    &[(1, "metadata", Shape::Message(METADATA)), (2, "spec", Shape::Message(&[(1, "namespace", Shape::String)]))];
const SELF_SUBJECT_REVIEW: Fields = &[(1, "metadata", Shape::Message(METADATA))];

/// Reads an enveloped review into the JSON object that it stands for.
pub fn review(body: &[u8]) -> Result<Map<String, Value>, ProtobufError> {
    let unknown = body.strip_prefix(MAGIC).ok_or(ProtobufError::Magic)?;
    let (mut api_version, mut kind, mut raw) = (String::new(), String::new(), &[][..]);
    for_each(unknown, |number, bytes| {
        match number {
            1 => for_each(bytes, |number, bytes| {
                match number {
                    1 => api_version = text(bytes)?,
                    2 => kind = text(bytes)?,
                    _ => {}
                }
                Ok(())
            })?,
            2 => raw = bytes,
            _ => {}
        }
        Ok(())
    })?;
    let fields = match kind.as_str() {
        "SelfSubjectAccessReview" => SELF_ACCESS_REVIEW,
        "SubjectAccessReview" | "LocalSubjectAccessReview" => ACCESS_REVIEW,
        "SelfSubjectRulesReview" => RULES_REVIEW,
        "SelfSubjectReview" => SELF_SUBJECT_REVIEW,
        _ => return Err(ProtobufError::Kind),
    };
    let mut review = message(raw, fields)?;
    review.insert("apiVersion".to_owned(), api_version.into());
    review.insert("kind".to_owned(), kind.into());
    Ok(review)
}

// The depth of recursion is that of the tables above.
fn message(bytes: &[u8], fields: Fields) -> Result<Map<String, Value>, ProtobufError> {
    let mut object = Map::new();
    for_each(bytes, |number, bytes| {
        let Some((_, name, shape)) = fields.iter().find(|(n, ..)| *n == number) else { return Ok(()) };
        match shape {
            // Go writes empty strings too.
            Shape::String if bytes.is_empty() => {}
            Shape::String => {
                object.insert((*name).to_owned(), text(bytes)?.into());
            }
            Shape::Message(fields) => {
                object.insert((*name).to_owned(), message(bytes, fields)?.into());
            }
            Shape::Strings => {
                let list = object.entry(*name).or_insert_with(|| Value::Array(Vec::new()));
                if let Value::Array(list) = list {
                    list.push(text(bytes)?.into());
                }
            }
            Shape::Extra => {
                let map = object.entry(*name).or_insert_with(|| Value::Object(Map::new()));
                if let Value::Object(map) = map {
                    let (key, values) = extra(bytes)?;
                    map.insert(key, values.into());
                }
            }
        }
        Ok(())
    })?;
    Ok(object)
}

fn extra(bytes: &[u8]) -> Result<(String, Vec<Value>), ProtobufError> {
    let (mut key, mut values) = (String::new(), Vec::new());
    for_each(bytes, |number, bytes| match number {
        1 => {
            key = text(bytes)?;
            Ok(())
        }
        2 => for_each(bytes, |number, bytes| {
            if number == 1 {
                values.push(text(bytes)?.into());
            }
            Ok(())
        }),
        _ => Ok(()),
    })?;
    Ok((key, values))
}

fn text(bytes: &[u8]) -> Result<String, ProtobufError> {
    String::from_utf8(bytes.to_vec()).map_err(|_| ProtobufError::Malformed)
}

/// Calls `each` with the number and bytes of every length-delimited field; others are skipped.
fn for_each<'a>(
    mut bytes: &'a [u8],
    mut each: impl FnMut(u64, &'a [u8]) -> Result<(), ProtobufError>,
) -> Result<(), ProtobufError> {
    while !bytes.is_empty() {
        let tag = varint(&mut bytes)?;
        match tag & 7 {
            0 => {
                varint(&mut bytes)?;
            }
            1 => {
                take(&mut bytes, 8)?;
            }
            2 => {
                let length = usize::try_from(varint(&mut bytes)?).map_err(|_| ProtobufError::Malformed)?;
                each(tag >> 3, take(&mut bytes, length)?)?;
            }
            5 => {
                take(&mut bytes, 4)?;
            }
            _ => return Err(ProtobufError::Malformed),
        }
    }
    Ok(())
}

fn take<'a>(bytes: &mut &'a [u8], n: usize) -> Result<&'a [u8], ProtobufError> {
    let (head, tail) = bytes.split_at_checked(n).ok_or(ProtobufError::Malformed)?;
    *bytes = tail;
    Ok(head)
}

fn varint(bytes: &mut &[u8]) -> Result<u64, ProtobufError> {
    let mut value = 0u64;
    // A varint has at most 10 bytes: 9 * 7 bits and one more.
    for shift in (0..70).step_by(7) {
        let (&byte, tail) = bytes.split_first().ok_or(ProtobufError::Malformed)?;
        *bytes = tail;
        value |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(ProtobufError::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
        let mut out = vec![number << 3 | 2, u8::try_from(bytes.len()).unwrap()];
        out.extend_from_slice(bytes);
        out
    }

    fn envelope(api_version: &str, kind: &str, raw: &[u8]) -> Vec<u8> {
        let meta = [field(1, api_version.as_bytes()), field(2, kind.as_bytes())].concat();
        [MAGIC.to_vec(), field(1, &meta), field(2, raw), field(3, b""), field(4, b"")].concat()
    }

    #[test]
    fn reads_what_kubectl_posts() {
        let attributes = [field(1, b"default"), field(2, b"create"), field(3, b"a.b"), field(4, b"*"), field(5, b"cs")];
        let spec = field(1, &attributes.concat());
        let raw = [field(1, b""), field(2, &spec), field(3, &[8, 0])].concat();
        let got = review(&envelope("authorization.k8s.io/v1", "SelfSubjectAccessReview", &raw)).unwrap();
        assert_eq!(
            Value::Object(got),
            serde_json::json!({
                "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "metadata": {},
                "spec": {"resourceAttributes":
                    {"namespace": "default", "verb": "create", "group": "a.b", "version": "*", "resource": "cs"}},
            })
        );
    }

    #[test]
    fn reads_groups_and_extra() {
        let extra = [field(1, b"k"), field(2, &[field(1, b"v1"), field(1, b"v2")].concat())].concat();
        let spec = [field(3, b"jane"), field(4, b"g1"), field(4, b"g2"), field(5, &extra), field(6, b"7")].concat();
        let got = review(&envelope("authorization.k8s.io/v1", "SubjectAccessReview", &field(2, &spec))).unwrap();
        assert_eq!(
            got["spec"],
            serde_json::json!({"user": "jane", "groups": ["g1", "g2"], "extra": {"k": ["v1", "v2"]}, "uid": "7"})
        );
    }

    #[test]
    fn refuses_the_rest() {
        assert_eq!(review(b"{}"), Err(ProtobufError::Magic));
        assert_eq!(review(&envelope("v1", "Pod", b"")), Err(ProtobufError::Kind));
        assert_eq!(review(b"k8s\0\x0a\xff"), Err(ProtobufError::Malformed));
        assert_eq!(review(&[b"k8s\0".as_slice(), &[0xff; 11]].concat()), Err(ProtobufError::Malformed));
        assert_eq!(review(b"k8s\0\x0b"), Err(ProtobufError::Malformed));
        let whole = envelope("authorization.k8s.io/v1", "SelfSubjectReview", b"");
        for end in 0..whole.len() {
            let _ = review(&whole[..end]);
        }
    }
}
