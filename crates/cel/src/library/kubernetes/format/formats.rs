//! What each of Kubernetes' formats accepts, and its words for what it does not (apimachinery's `validation`, kube-openapi's
//! `strfmt`).
//!
//! Absent: the functions of the language.
use crate::format::time::days_in;

/// A format by name.
pub(super) struct Format {
    pub(super) name: &'static str,
    /// The length of its pattern, which the price goes by.
    pub(super) length: u64,
    /// What is wrong with a text.
    pub(super) check: fn(&str) -> Vec<String>,
}

pub(super) const FORMATS: [Format; 13] = [
    Format { name: "dns1123Label", length: 30, check: dns1123_label },
    Format { name: "dns1123Subdomain", length: 60, check: dns1123_subdomain },
    Format { name: "dns1035Label", length: 30, check: dns1035_label },
    Format { name: "qualifiedName", length: 60, check: qualified_name },
    Format { name: "dns1123LabelPrefix", length: 30, check: |text| dns1123_label(&without_dash(text)) },
    Format { name: "dns1123SubdomainPrefix", length: 60, check: |text| dns1123_subdomain(&without_dash(text)) },
    Format { name: "dns1035LabelPrefix", length: 30, check: |text| dns1035_label(&without_dash(text)) },
    Format { name: "labelValue", length: 40, check: label_value },
    Format { name: "uri", length: 1103, check: uri },
    Format { name: "uuid", length: 70, check: |text| told(is_uuid(text), "does not match the UUID format") },
    Format { name: "byte", length: 84, check: |text| told(is_base64(text), "invalid base64") },
    Format { name: "date", length: 71, check: |text| told(is_date(text), "invalid date") },
    Format { name: "datetime", length: 71, check: |text| told(is_datetime(text), "invalid datetime") },
];

fn told(valid: bool, issue: &str) -> Vec<String> {
    if valid { vec![] } else { vec![issue.to_string()] }
}

/// A prefix may end in a dash, since something will follow it.
fn without_dash(text: &str) -> String {
    match text.strip_suffix('-') {
        Some(head) if !head.is_empty() => {
            let mut masked = head.to_string();
            masked.pop();
            masked + "a"
        }
        _ => text.to_string(),
    }
}

const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const OLD_LABEL: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const NAME_PART: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

fn is_small(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

/// `[a-z0-9]([-a-z0-9]*[a-z0-9])?`
fn is_label(text: &str) -> bool {
    let bytes = text.as_bytes();
    let ends = bytes.first().zip(bytes.last());
    ends.is_some_and(|(first, last)| is_small(*first) && is_small(*last))
        && bytes.iter().all(|b| is_small(*b) || *b == b'-')
}

fn is_subdomain(text: &str) -> bool {
    text.split('.').all(is_label)
}

/// `([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]`
fn is_name(text: &str) -> bool {
    let bytes = text.as_bytes();
    let ends = bytes.first().zip(bytes.last());
    ends.is_some_and(|(first, last)| first.is_ascii_alphanumeric() && last.is_ascii_alphanumeric())
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(b))
}

pub(crate) fn dns1123_label(text: &str) -> Vec<String> {
    let mut issues = told(text.len() <= 63, "must be no more than 63 characters");
    if !is_label(text) {
        issues.push(if is_subdomain(text) { "must not contain dots" } else { LABEL }.to_string());
    }
    issues
}

pub(crate) fn dns1123_subdomain(text: &str) -> Vec<String> {
    let mut issues = told(text.len() <= 253, "must be no more than 253 characters");
    issues.extend(told(is_subdomain(text), SUBDOMAIN));
    issues
}

fn dns1035_label(text: &str) -> Vec<String> {
    let mut issues = told(text.len() <= 63, "must be no more than 63 characters");
    issues.extend(told(is_label(text) && !text.starts_with(|c: char| c.is_ascii_digit()), OLD_LABEL));
    issues
}

fn qualified_name(text: &str) -> Vec<String> {
    let mut issues = vec![];
    let name = match text.split('/').collect::<Vec<_>>().as_slice() {
        [name] => *name,
        [prefix, name] => {
            if prefix.is_empty() {
                issues.push("prefix part must be non-empty".to_string());
            } else {
                issues.extend(dns1123_subdomain(prefix).into_iter().map(|issue| format!("prefix part {issue}")));
            }
            *name
        }
        _ => {
            return vec![format!(
                "a valid label key {NAME_PART} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
    };
    if name.is_empty() {
        issues.push("name part must be non-empty".to_string());
    } else if name.len() > 63 {
        issues.push("name part must be no more than 63 bytes".to_string());
    }
    issues.extend(told(is_name(name), &format!("name part {NAME_PART}")));
    issues
}

fn label_value(text: &str) -> Vec<String> {
    let mut issues = told(text.len() <= 63, "must be no more than 63 bytes");
    issues.extend(told(text.is_empty() || is_name(text), LABEL_VALUE));
    issues
}

fn uri(text: &str) -> Vec<String> {
    super::super::url::check(text).err().into_iter().collect()
}

/// 32 hexadecimal digits, dashes between the groups or not.
fn is_uuid(text: &str) -> bool {
    let mut rest = text;
    for (i, length) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if i > 0 {
            rest = rest.strip_prefix('-').unwrap_or(rest);
        }
        let Some((group, tail)) = rest.split_at_checked(length) else { return false };
        if !group.bytes().all(|b| b.is_ascii_hexdigit()) {
            return false;
        }
        rest = tail;
    }
    rest.is_empty()
}

fn is_base64(text: &str) -> bool {
    let body = text.strip_suffix("==").or_else(|| text.strip_suffix('=')).unwrap_or(text);
    !text.is_empty()
        && text.len().is_multiple_of(4)
        && body.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/".contains(&b))
}

fn number(text: &str, digits: usize) -> Option<i64> {
    (text.len() == digits && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok())?
}

fn is_date(text: &str) -> bool {
    let mut parts = text.split('-');
    let mut next = |digits| parts.next().and_then(|part| number(part, digits));
    let (Some(year), Some(month), Some(day)) = (next(4), next(2), next(2)) else { return false };
    parts.next().is_none() && (1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day)
}

/// `([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))` after the date; the dot stands for any character.
fn is_datetime(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let Some((date, time)) = lower.split_once('t') else { return false };
    let time = time.split('t').next().unwrap_or("");
    let Some((clock, mut rest)) = time.split_at_checked(8) else { return false };
    let mut parts = clock.split(':').map(|part| number(part, 2));
    let in_range = [23, 59, 59].into_iter().all(|most| parts.next().flatten().is_some_and(|n| n <= most));
    let digits = rest.chars().skip(1).take_while(char::is_ascii_digit).count();
    if !is_zone(rest) && digits > 0 {
        rest = rest.char_indices().nth(1 + digits).and_then(|(at, _)| rest.get(at..)).unwrap_or("");
    }
    is_date(date) && in_range && is_zone(rest)
}

fn is_zone(text: &str) -> bool {
    let offset =
        |text: &str| text.split_once(':').is_some_and(|(h, m)| number(h, 2).is_some() && number(m, 2).is_some());
    text == "z" || text.strip_prefix(['+', '-']).is_some_and(offset)
}
