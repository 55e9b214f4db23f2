//! `/livez`, `/readyz`, `/healthz`, `/version`, `/`: what tells of the server itself.
//!
//! Absent: what it serves.
use http::{Response, StatusCode};
use serde_json::{Value, json};

use crate::server::{body::Body, published::Group, query::Query, reply};

/// The Kubernetes minor whose protocol this is; a kubectl dispatcher picks its client by it.
pub const MINOR: &str = "32";

/// `/version`
pub fn version() -> Value {
    json!({
        "major": "1",
        "minor": MINOR,
        "emulationMajor": "1",
        "emulationMinor": MINOR,
        "minCompatibilityMajor": "1",
        "minCompatibilityMinor": "31",
        "gitVersion": format!("v1.{MINOR}.0+celandine-{}", env!("CARGO_PKG_VERSION")),
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "n/a",
        "compiler": "rustc",
        "platform": format!("{}/{}", std::env::consts::OS, go_arch()),
    })
}

/// `/livez`, `/readyz`, `/healthz` and their single checks.
pub fn health(probe: &str, check: Option<&str>, closing: bool, query: &Query<'_>) -> Response<Body> {
    // A server that is shutting down is alive and not ready.
    let checks: &[(&str, bool)] = match probe {
        "readyz" => &[("ping", true), ("shutdown", !closing)],
        _ => &[("ping", true)],
    };
    if let Some(name) = check {
        return match checks.iter().find(|(n, _)| *n == name) {
            None => reply::page_not_found(),
            Some((_, true)) => reply::text(StatusCode::OK, "ok"),
            Some((_, false)) => reply::text(StatusCode::INTERNAL_SERVER_ERROR, "internal server error: shutting down"),
        };
    }
    let failed = checks.iter().any(|(name, ok)| !ok && query.all("exclude").all(|e| e != *name));
    if !failed && query.get("verbose").is_none() {
        return reply::text(StatusCode::OK, "ok");
    }
    let mut out = String::new();
    for (name, ok) in checks {
        if query.all("exclude").any(|e| e == *name) {
            out.push_str(&format!("[+]{name} excluded: ok\n"));
        } else if *ok {
            out.push_str(&format!("[+]{name} ok\n"));
        } else {
            out.push_str(&format!("[-]{name} failed: reason withheld\n"));
        }
    }
    let verdict = if failed { "failed" } else { "passed" };
    out.push_str(&format!("{probe} check {verdict}\n"));
    reply::text(if failed { StatusCode::INTERNAL_SERVER_ERROR } else { StatusCode::OK }, out)
}

/// `/`
pub fn paths(groups: &[Group]) -> Value {
    let mut paths = vec!["/api".to_owned(), "/api/v1".to_owned(), "/apis".to_owned()];
    for group in groups.iter().filter(|g| !g.name.is_empty()) {
        paths.push(format!("/apis/{}", group.name));
        paths.extend(group.versions.iter().map(|v| format!("/apis/{}/{}", group.name, v.name)));
    }
    paths.extend(
        ["/healthz", "/healthz/ping", "/livez", "/livez/ping", "/openapi/v2", "/openapi/v3", "/readyz", "/readyz/ping"]
            .map(str::to_owned),
    );
    paths.push("/version".to_owned());
    json!({"paths": paths})
}

fn go_arch() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}
