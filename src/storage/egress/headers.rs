//! The header fields of a call, and which of an answer's are looked at.
//!
//! Absent: which fields calls may set (engine), the values of credentials (auth).
use http::{HeaderMap, HeaderName, HeaderValue, header};

use crate::{engine::header_fields, storage::egress::error::EgressError};

/// Fields of the connection and the body's framing, in which no server looks for credentials.
const NOT_FOR_CREDENTIALS: [&str; 9] =
    ["connection", "content-length", "expect", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"];

/// Whether a policy may send its credentials in a field.
pub fn may_hold_credentials(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    HeaderName::from_bytes(name.as_bytes()).is_ok() && !NOT_FOR_CREDENTIALS.contains(&name.as_str())
}

/// The fields of a call. `credentials` is the field that the policy sets itself.
pub fn of_call(fields: &[(String, String)], credentials: Option<&HeaderName>) -> Result<HeaderMap, EgressError> {
    let mut headers = HeaderMap::new();
    for (name, value) in fields {
        let refused = || EgressError::Header { name: name.to_ascii_lowercase().into() };
        let parsed = HeaderName::from_bytes(name.as_bytes()).map_err(|_| refused())?;
        if !header_fields::may_be_set(parsed.as_str()) || Some(&parsed) == credentials {
            return Err(refused());
        }
        let value =
            HeaderValue::from_str(value).map_err(|_| EgressError::HeaderValue { name: parsed.as_str().into() })?;
        headers.append(parsed, value);
    }
    Ok(headers)
}

/// The fields that a HEAD call gives: one text each, without those that hold state or ask for credentials.
pub fn readable(headers: &HeaderMap) -> impl Iterator<Item = (&str, String)> {
    let hidden = [header::SET_COOKIE, header::WWW_AUTHENTICATE, header::PROXY_AUTHENTICATE, header::CONNECTION];
    headers.keys().filter(move |name| !hidden.contains(name)).map(|name| {
        let values = headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        (name.as_str(), values.collect::<Vec<_>>().join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_cannot_set_what_is_not_theirs() {
        let set = |name: &str, value: &str| of_call(&[(name.to_owned(), value.to_owned())], None);
        assert!(set("X-Scope", "a").is_ok_and(|headers| headers.get("x-scope").is_some_and(|v| v == "a")));
        for name in
            ["Host", "AUTHORIZATION", "Content-Length", "transfer-encoding", "Proxy-Authorization", "a b", "", "a:b"]
        {
            assert!(matches!(set(name, "a"), Err(EgressError::Header { .. })), "{name}");
        }
        for value in ["a\r\nHost: b", "a\nb", "\0"] {
            assert!(matches!(set("x-a", value), Err(EgressError::HeaderValue { .. })), "{value:?}");
        }
        let key = HeaderName::from_static("x-api-key");
        assert!(of_call(&[("X-API-Key".to_owned(), "a".to_owned())], Some(&key)).is_err());
        assert!(may_hold_credentials("X-Api-Key") && may_hold_credentials("Cookie") && !may_hold_credentials("Host"));
    }
}
