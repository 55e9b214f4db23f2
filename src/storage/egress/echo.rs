//! Whether an answer repeats the credentials that it was asked with. Some endpoints do (mirrors, debugging pages, errors), and
//! whoever writes a schema chooses among the paths that a policy allows: what came back would be his to read.
//!
//! A backend that hides them in another form can do so; it has them anyway. Absent: what they are (auth).
use base64::{Engine, engine::general_purpose::STANDARD};
use http::{HeaderMap, HeaderValue};

use crate::storage::egress::sensitive::Sensitive;

/// Shorter ones are found in many an answer by chance.
const LEAST_BYTES: usize = 6;

/// What was sent as credentials, in the forms in which it may come back.
#[derive(Clone, Debug, Default)]
pub(super) struct Sent(Vec<Sensitive<Vec<u8>>>);

impl Sent {
    /// Of the value of a header field: `Bearer <token>`, `Basic <base64 of user:password>`, or the secret itself.
    pub(super) fn of(value: Option<&HeaderValue>) -> Sent {
        let Some(value) = value else { return Sent::default() };
        let whole = value.as_bytes();
        let last = whole.rsplit(|byte| *byte == b' ').next().unwrap_or(whole);
        let decoded = STANDARD.decode(last).unwrap_or_default();
        let password = decoded.iter().position(|byte| *byte == b':').and_then(|at| decoded.get(at + 1..));
        let plain = [Some(last), password].into_iter().flatten().filter(|secret| secret.len() >= LEAST_BYTES);
        let mut forms: Vec<Vec<u8>> = plain.flat_map(|secret| [secret.to_vec(), in_json(secret)]).collect();
        let slashes: Vec<Vec<u8>> = forms.iter().map(|form| with_escaped_slashes(form)).collect();
        forms.extend(slashes);
        forms.sort_unstable();
        forms.dedup();
        Sent(forms.into_iter().map(Sensitive::new).collect())
    }

    /// Whether a text has it.
    pub(super) fn is_in(&self, text: &[u8]) -> bool {
        self.0.iter().any(|secret| {
            let secret = secret.expose().as_slice();
            text.windows(secret.len()).any(|window| window == secret)
        })
    }

    /// Whether a value of a header field has it.
    pub(super) fn is_in_fields(&self, headers: &HeaderMap) -> bool {
        headers.values().any(|value| self.is_in(value.as_bytes()))
    }
}

/// As JSON has it in a string.
fn in_json(secret: &[u8]) -> Vec<u8> {
    let quoted = serde_json::to_string(&String::from_utf8_lossy(secret)).unwrap_or_default();
    let inner = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inner.unwrap_or_default().as_bytes().to_vec()
}

/// As PHP and old JavaScript write JSON.
fn with_escaped_slashes(text: &[u8]) -> Vec<u8> {
    text.iter().flat_map(|byte| if *byte == b'/' { vec![b'\\', b'/'] } else { vec![*byte] }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_found_in_the_forms_in_which_they_are_repeated() {
        let check = |sent: &'static str, text: &str, want| {
            let sent = Sent::of(Some(&HeaderValue::from_static(sent)));
            assert_eq!(sent.is_in(text.as_bytes()), want, "{text}");
            assert!(!format!("{sent:?}").contains("cret"));
        };
        check("Bearer s3cret", r#"{"authorization": "Bearer s3cret"}"#, true);
        check("Basic dTpzM2NyZXQ=", "the password is s3cret", true);
        check("Basic dTpzM2NyZXQ=", "dTpzM2NyZXQ=", true);
        check("s3cret", "x-api-key: s3cret", true);
        check("Bearer s3cret/+x", r#""s3cret\/+x""#, true);
        check("s3\"cret", r#""s3\"cret""#, true);
        check("Bearer s3cret", r#"{"points": []}"#, false);
        check("Bearer s3cre", "s3cre", false);
        assert!(!Sent::of(None).is_in(b"anything"));
    }
}
