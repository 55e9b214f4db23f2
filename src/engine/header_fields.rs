//! Which header fields a call may set: for the compiler, which tells authors, and for whoever makes the call.
//!
//! Absent: their values, the fields that hold credentials (storage).

/// Fields that belong to the connection, to the framing or the form of the body, to credentials or to caches.
const FORBIDDEN: [&str; 43] = [
    "accept-encoding",
    "authorization",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "cookie",
    "cookie2",
    "expect",
    "forwarded",
    "front-end-https",
    "host",
    "http2-settings",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "if-unmodified-since",
    "keep-alive",
    "max-forwards",
    "origin",
    "proxy",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "range",
    "referer",
    "te",
    "trailer",
    "transfer-encoding",
    "true-client-ip",
    "upgrade",
    "via",
    "x-client-ip",
    "x-cluster-client-ip",
    "x-host",
    "x-method-override",
    "x-original-method",
    "x-original-url",
    "x-override-url",
    "x-real-ip",
    "x-rewrite-url",
    "x-url-scheme",
];

/// Families of fields by which servers take a request for another's, for one to another path, or for one of another method.
/// The policy's credentials would be used for what the policy does not allow.
const FAMILIES: [&str; 7] =
    ["impersonate-", "proxy-", "sec-", "x-forwarded", "x-http-method", "x-original-", "x-remote-"];

/// Whether a call may set a field; its name is in lower case.
pub fn may_be_set(name: &str) -> bool {
    !FORBIDDEN.contains(&name) && !FAMILIES.iter().any(|family| name.starts_with(family))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_make_another_request_of_a_request_are_refused() {
        for name in
            ["host", "x-forwarded-prefix", "impersonate-user", "x-remote-group", "x-http-method-override", "range"]
        {
            assert!(!may_be_set(name), "{name}");
        }
        for name in ["accept", "x-scope-orgid", "x-request-id", "prefer", "user-agent"] {
            assert!(may_be_set(name), "{name}");
        }
    }
}
