//! Who asks: the embedded server's `admin`, or whom `admin` impersonates by kubectl's `--as`, `--as-group`, `--as-uid`.
//!
//! Absent: authentication (there is none yet: that is why only loopback is listened on), authorization (access).
use std::collections::BTreeMap;

use http::{HeaderMap, HeaderName};
use percent_encoding::percent_decode_str;

use crate::{
    api::{
        UserInfo,
        user::{AUTHENTICATED, UNAUTHENTICATED},
    },
    server::{reply::Failure, status},
};

const USER: HeaderName = HeaderName::from_static("impersonate-user");
const GROUP: HeaderName = HeaderName::from_static("impersonate-group");
const UID: HeaderName = HeaderName::from_static("impersonate-uid");
const EXTRA: &str = "impersonate-extra-";
const ANONYMOUS: &str = "system:anonymous";
const SERVICE_ACCOUNT: &str = "system:serviceaccount:";

/// The user of a request.
pub fn user(headers: &HeaderMap) -> Result<UserInfo, Failure> {
    let username = one(headers, USER)?.unwrap_or_default();
    let uid = one(headers, UID)?.unwrap_or_default();
    let mut groups = Vec::new();
    for value in headers.get_all(GROUP) {
        groups.push(text(&GROUP, value.as_bytes())?);
    }
    let extra = extra(headers)?;
    if username.is_empty() {
        if !groups.is_empty() || !uid.is_empty() || !extra.is_empty() {
            return Err(Box::new(status::bad_request(
                "requested a group, uid or extra without impersonating a user: set Impersonate-User too (kubectl --as)",
            )));
        }
        return Ok(UserInfo::admin());
    }
    if groups.is_empty()
        && let Some((namespace, name)) = username.strip_prefix(SERVICE_ACCOUNT).and_then(|n| n.split_once(':'))
        && !namespace.is_empty()
        && !name.is_empty()
        && !name.contains(':')
    {
        groups = vec!["system:serviceaccounts".to_owned(), format!("system:serviceaccounts:{namespace}")];
    }
    let implied = if username == ANONYMOUS { UNAUTHENTICATED } else { AUTHENTICATED };
    if !groups.iter().any(|g| g == AUTHENTICATED || g == UNAUTHENTICATED) {
        groups.push(implied.to_owned());
    }
    Ok(UserInfo { username, uid, groups, extra })
}

fn one(headers: &HeaderMap, name: HeaderName) -> Result<Option<String>, Failure> {
    headers.get(&name).map(|v| text(&name, v.as_bytes())).transpose()
}

fn extra(headers: &HeaderMap) -> Result<BTreeMap<String, Vec<String>>, Failure> {
    let mut extra = BTreeMap::<String, Vec<String>>::new();
    for (name, value) in headers {
        // Header names arrive in lower case.
        let Some(key) = name.as_str().strip_prefix(EXTRA) else { continue };
        // As kube-apiserver: a key that cannot be decoded is taken as it is.
        let key = percent_decode_str(key).decode_utf8().map_or_else(|_| key.to_owned(), |k| k.into_owned());
        extra.entry(key).or_default().push(text(name, value.as_bytes())?);
    }
    Ok(extra)
}

fn text(name: &HeaderName, bytes: &[u8]) -> Result<String, Failure> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(_) => {
            Err(Box::new(status::bad_request(format!("the header {} is not UTF-8", status::echo(name.as_str())))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(headers: &[(HeaderName, &'static str)], expected: &str) {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name, value.parse().unwrap());
        }
        let got = match user(&map) {
            Ok(u) => format!("{} {:?} {:?} {:?}", u.username, u.uid, u.groups, u.extra),
            Err(e) => format!("{} {}", e.code.get(), e.message),
        };
        assert!(got.starts_with(expected), "{got}");
    }

    fn extra_header(key: &str) -> HeaderName {
        format!("{EXTRA}{key}").parse().unwrap()
    }

    #[test]
    fn impersonates_as_kube_apiserver_does() {
        check(&[], r#"admin "" ["system:masters", "system:authenticated"] {}"#);
        check(&[(USER, "jane")], r#"jane "" ["system:authenticated"] {}"#);
        check(
            &[(USER, "jane"), (GROUP, "a"), (GROUP, "b"), (UID, "7")],
            r#"jane "7" ["a", "b", "system:authenticated"] {}"#,
        );
        check(&[(USER, "jane"), (GROUP, "system:masters")], r#"jane "" ["system:masters", "system:authenticated"]"#);
        check(&[(USER, "system:anonymous")], r#"system:anonymous "" ["system:unauthenticated"]"#);
        check(
            &[(USER, "system:serviceaccount:ns:sa")],
            r#"system:serviceaccount:ns:sa "" ["system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"]"#,
        );
        check(
            &[(USER, "j"), (extra_header("acme.example%2Fteam"), "x"), (extra_header("acme.example%2fteam"), "y")],
            r#"j "" ["system:authenticated"] {"acme.example/team": ["x", "y"]}"#,
        );
        check(&[(GROUP, "a")], "400 requested a group");
    }
}
