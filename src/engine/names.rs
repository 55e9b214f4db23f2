//! The forms of names, in kube-apiserver's words.
//!
//! Absent: which name must have which form.

/// The longest label value, DNS label and name part of a qualified name, in bytes (RFC 1123).
const LABEL_MAX: usize = 63;
/// The longest DNS subdomain, in bytes (RFC 1123).
const SUBDOMAIN_MAX: usize = 253;

const QUALIFIED: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const DNS_1123_LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const DNS_1035_LABEL: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

/// What is wrong with a label's key.
pub fn qualified_name(text: &str) -> Vec<String> {
    let mut problems = vec![];
    let name = match text.split_once('/') {
        None => text,
        Some((_, rest)) if rest.contains('/') => {
            return vec![format!(
                "a valid label key {QUALIFIED} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
        Some(("", name)) => {
            problems.push("prefix part must be non-empty".to_owned());
            name
        }
        Some((prefix, name)) => {
            problems.extend(dns1123_subdomain(prefix).into_iter().map(|p| format!("prefix part {p}")));
            name
        }
    };
    if name.is_empty() {
        problems.push("name part must be non-empty".to_owned());
    } else if name.len() > LABEL_MAX {
        problems.push(format!("name part must be no more than {LABEL_MAX} bytes"));
    }
    if !is_bounded(name, |c| c.is_ascii_alphanumeric(), |c| matches!(c, b'-' | b'_' | b'.')) {
        problems.push(format!("name part {QUALIFIED}"));
    }
    problems
}

/// What is wrong with a label's value.
pub fn label_value(text: &str) -> Vec<String> {
    let mut problems = vec![];
    if text.len() > LABEL_MAX {
        problems.push(format!("must be no more than {LABEL_MAX} bytes"));
    }
    if !text.is_empty() && !is_bounded(text, |c| c.is_ascii_alphanumeric(), |c| matches!(c, b'-' | b'_' | b'.')) {
        problems.push(LABEL_VALUE.to_owned());
    }
    problems
}

/// What is wrong with the name of an object of whatever kind: whoever asks a server for it makes a segment of a path of it
/// (`ValidatePathSegmentName`). No name is longer than a DNS subdomain, and none has control characters.
pub fn path_segment(text: &str) -> Vec<String> {
    let mut problems = vec![];
    if matches!(text, "." | "..") {
        problems.push(format!("may not be '{text}'"));
    }
    problems.extend(['/', '%'].into_iter().filter(|c| text.contains(*c)).map(|c| format!("may not contain '{c}'")));
    if text.chars().any(char::is_control) {
        problems.push("may not contain control characters".to_owned());
    }
    if text.len() > SUBDOMAIN_MAX {
        problems.push(format!("must be no more than {SUBDOMAIN_MAX} bytes"));
    }
    problems
}

/// What is wrong with a DNS subdomain: most objects' names, groups.
pub fn dns1123_subdomain(text: &str) -> Vec<String> {
    let mut problems = vec![];
    if text.len() > SUBDOMAIN_MAX {
        problems.push(format!("must be no more than {SUBDOMAIN_MAX} bytes"));
    }
    if !text.split('.').all(is_dns1123_label) {
        problems.push(SUBDOMAIN.to_owned());
    }
    problems
}

/// What is wrong with a DNS label that may begin with a digit: namespaces.
pub fn dns1123_label(text: &str) -> Vec<String> {
    let mut problems = vec![];
    if text.len() > LABEL_MAX {
        problems.push(format!("must be no more than {LABEL_MAX} bytes"));
    }
    if !is_dns1123_label(text) {
        problems.push(DNS_1123_LABEL.to_owned());
    }
    problems
}

/// What is wrong with a DNS label that begins with a letter: plurals, versions, kinds in lower case.
pub fn dns1035_label(text: &str) -> Vec<String> {
    let mut problems = vec![];
    if text.len() > LABEL_MAX {
        problems.push(format!("must be no more than {LABEL_MAX} bytes"));
    }
    if !is_dns1123_label(text) || text.starts_with(|c: char| c.is_ascii_digit()) {
        problems.push(DNS_1035_LABEL.to_owned());
    }
    problems
}

fn is_dns1123_label(text: &str) -> bool {
    is_bounded(text, |c| c.is_ascii_lowercase() || c.is_ascii_digit(), |c| c == b'-')
}

/// Whether a text is not empty, holds only `ends` and `inner`, and begins and ends with `ends`.
fn is_bounded(text: &str, ends: impl Fn(u8) -> bool, inner: impl Fn(u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|c| ends(*c))
        && bytes.last().is_some_and(|c| ends(*c))
        && bytes.iter().all(|c| ends(*c) || inner(*c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        for (ok, text) in [
            (true, "a"),
            (true, "a.b/c_D"),
            (false, "a/b/c"),
            (false, "/a"),
            (false, "a/"),
            (false, "-a"),
            (false, "ä"),
        ] {
            assert_eq!(qualified_name(text).is_empty(), ok, "{text}");
        }
        for (ok, text) in [(true, ""), (true, "A_b.c"), (false, "a b"), (false, "a-")] {
            assert_eq!(label_value(text).is_empty(), ok, "{text}");
        }
        for (ok, text) in [(true, "a.b-c.1"), (false, "a..b"), (false, ""), (false, "A"), (false, "a.-b")] {
            assert_eq!(dns1123_subdomain(text).is_empty(), ok, "{text}");
        }
        for (ok, text) in [(true, "a1"), (false, "1a"), (false, "a.b")] {
            assert_eq!(dns1035_label(text).is_empty(), ok, "{text}");
        }
    }
}
