//! What a request means by its method, path and query: workspace, verb, group, version, namespace, resource, name.
//! The rules are those of kube-apiserver's `RequestInfoFactory`, after a `/clusters/<path>` prefix is taken off.
//!
//! Absent: whether any of it exists (routes), whether it is allowed (access).
use std::borrow::Cow;

use http::Method;
use percent_encoding::percent_decode_str;

use crate::{server::query::Query, storage::workspace::ROOT};

/// Longest path that is looked at: 8 KiB, enough for the longest names Kubernetes allows (4 * 253) many times over.
const MAX_PATH: usize = 8 * 1024;

/// `clusters/W/apis/G/V/namespaces/NS/R` and a name.
const USUAL_SEGMENTS: usize = 9;

/// What a request means. It borrows from the request what needs no decoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestInfo<'a> {
    /// `root:org`
    pub workspace: Cow<'a, str>,
    /// `/clusters/root:org`; empty when the path had none.
    pub prefix: String,
    /// What is asked for.
    pub target: Target<'a>,
    /// Those of the path below the workspace, decoded.
    pub segments: Vec<Cow<'a, str>>,
    /// `get`, `list`, `create`, ...; for other paths the method in lower case.
    pub verb: Cow<'static, str>,
}

/// What a path names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target<'a> {
    /// Something like `/version` or `/apis/G/V`.
    Path,
    /// Objects of a kind.
    Resource(ResourcePath<'a>),
}

/// The parts of a path that names objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourcePath<'a> {
    /// `apps`; empty for core.
    pub group: Cow<'a, str>,
    /// `v1`
    pub version: Cow<'a, str>,
    /// Empty for cluster-scoped kinds, or for all namespaces.
    pub namespace: Cow<'a, str>,
    /// `deployments`
    pub resource: Cow<'a, str>,
    /// Empty when none is named.
    pub name: Cow<'a, str>,
    /// `status`; empty when there is none.
    pub subresource: Cow<'a, str>,
    /// Segments after the subresource.
    pub rest: Vec<Cow<'a, str>>,
}

/// Why a path means nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// Not decodable.
    #[error("the path of the request is not percent-encoded UTF-8")]
    Encoding,
    /// A segment that no name may be.
    #[error("the path of the request has a segment that is empty, `.`, `..` or holds `/` or a control character")]
    Segment,
    /// Too long.
    #[error("the path of the request is longer than {MAX_PATH} bytes")]
    Length,
    /// `/api/v1/watch`, `/api/v1/proxy`
    #[error("unable to determine kind and namespace from url")]
    Special,
}

impl<'a> RequestInfo<'a> {
    /// Reads a method, a raw path and a query.
    pub fn parse(method: &Method, path: &'a str, query: &Query<'_>) -> Result<RequestInfo<'a>, PathError> {
        let mut segments = split(path)?;
        let (mut workspace, mut prefix) = (Cow::Borrowed(ROOT), String::new());
        if segments.first().is_some_and(|s| s == "clusters") && segments.len() >= 2 {
            workspace = segments.remove(1);
            segments.remove(0);
            prefix = format!("/clusters/{workspace}");
        }
        let (target, verb) = match resource(method, &segments, query)? {
            Some((resource, verb)) => (Target::Resource(resource), Cow::Borrowed(verb)),
            None => (Target::Path, Cow::Owned(method.as_str().to_ascii_lowercase())),
        };
        Ok(RequestInfo { workspace, prefix, target, segments, verb })
    }

    /// The path below the workspace, decoded.
    pub fn path(&self) -> String {
        format!("/{}", self.segments.join("/"))
    }
}

fn split(path: &str) -> Result<Vec<Cow<'_, str>>, PathError> {
    if path.len() > MAX_PATH {
        return Err(PathError::Length);
    }
    let trimmed = path.trim_matches('/');
    if trimmed.is_empty() {
        return Ok(Vec::new());
    }
    let mut segments = Vec::with_capacity(USUAL_SEGMENTS);
    for raw in trimmed.split('/') {
        segments.push(segment(raw)?);
    }
    Ok(segments)
}

fn segment(raw: &str) -> Result<Cow<'_, str>, PathError> {
    let text = if raw.contains('%') { decode(raw)? } else { Cow::Borrowed(raw) };
    if text.is_empty() || text == "." || text == ".." || text.contains(|c: char| c == '/' || c.is_control()) {
        return Err(PathError::Segment);
    }
    Ok(text)
}

fn decode(raw: &str) -> Result<Cow<'_, str>, PathError> {
    // A lone `%` decodes to itself in this library; Go refuses it, and so must whoever does not want two readings.
    let mut bytes = raw.bytes();
    while let Some(b) = bytes.next() {
        if b == b'%' && !(bytes.next().is_some_and(hex) && bytes.next().is_some_and(hex)) {
            return Err(PathError::Encoding);
        }
    }
    percent_decode_str(raw).decode_utf8().map_err(|_| PathError::Encoding)
}

fn hex(b: u8) -> bool {
    b.is_ascii_hexdigit()
}

/// `None` when the path names no objects.
fn resource<'a>(
    method: &Method,
    segments: &[Cow<'a, str>],
    query: &Query<'_>,
) -> Result<Option<(ResourcePath<'a>, &'static str)>, PathError> {
    let (group, version, parts) = match segments {
        [api, version, parts @ ..] if api == "api" && !parts.is_empty() => (Cow::default(), version, parts),
        [apis, group, version, parts @ ..] if apis == "apis" && !parts.is_empty() => (group.clone(), version, parts),
        _ => return Ok(None),
    };
    let mut verb = verb_of(method);
    let mut parts = parts;
    if let [special, rest @ ..] = parts
        && (special == "watch" || special == "proxy")
    {
        if rest.is_empty() {
            return Err(PathError::Special);
        }
        verb = if special == "watch" { "watch" } else { "proxy" };
        parts = rest;
    }
    let mut namespace: Cow<'a, str> = Cow::default();
    if let [namespaces, name, rest @ ..] = parts
        && namespaces == "namespaces"
    {
        namespace.clone_from(name);
        // `namespaces/NAME/status` is the namespace itself; anything else lies within it.
        if rest.first().is_some_and(|r| r != "status" && r != "finalize") {
            parts = rest;
        }
    }
    let at = |i: usize| parts.get(i).cloned().unwrap_or_default();
    let mut path = ResourcePath {
        group,
        version: version.clone(),
        namespace,
        resource: at(0),
        name: at(1),
        subresource: at(2),
        rest: parts.get(3..).unwrap_or_default().to_vec(),
    };
    // Kubernetes keeps the namespace of `/api/v1/namespaces/NAME` as both; there is no namespace in a namespace.
    if path.resource == "namespaces" && path.group.is_empty() {
        path.namespace.clone_from(&path.name);
    }
    if path.name.is_empty() {
        verb = match verb {
            "get" if query.bool("watch") => "watch",
            "get" => "list",
            "delete" => "deletecollection",
            other => other,
        };
    }
    Ok(Some((path, verb)))
}

fn verb_of(method: &Method) -> &'static str {
    match *method {
        Method::POST => "create",
        Method::GET | Method::HEAD => "get",
        Method::PUT => "update",
        Method::PATCH => "patch",
        Method::DELETE => "delete",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(method: &str, uri: &str, expected: &str) {
        let (path, query) = uri.split_once('?').unwrap_or((uri, ""));
        let method: Method = method.parse().unwrap();
        let got = match RequestInfo::parse(&method, path, &Query::parse(query)) {
            Err(e) => format!("{e:?}"),
            Ok(info) => match &info.target {
                Target::Path => format!("{} {} {}", info.workspace, info.verb, info.segments.join(",")),
                Target::Resource(r) => format!(
                    "{} {} g={} v={} ns={} r={} n={} s={} rest={}",
                    info.workspace,
                    info.verb,
                    r.group,
                    r.version,
                    r.namespace,
                    r.resource,
                    r.name,
                    r.subresource,
                    r.rest.join(",")
                ),
            },
        };
        assert_eq!(got, expected);
    }

    #[test]
    fn resolves_as_kube_apiserver_does() {
        check("GET", "/", "root get ");
        check("GET", "/version", "root get version");
        check("GET", "/version/", "root get version");
        check("GET", "/api/v1", "root get api,v1");
        check("GET", "/apis/a.b/v1", "root get apis,a.b,v1");
        check("GET", "/api/v1/pods", "root list g= v=v1 ns= r=pods n= s= rest=");
        check("GET", "/api/v1/pods?watch=true", "root watch g= v=v1 ns= r=pods n= s= rest=");
        check("GET", "/api/v1/pods?watch=0", "root list g= v=v1 ns= r=pods n= s= rest=");
        check("GET", "/api/v1/watch/pods", "root watch g= v=v1 ns= r=pods n= s= rest=");
        check("GET", "/api/v1/watch", "Special");
        check("GET", "/api/v1/namespaces", "root list g= v=v1 ns= r=namespaces n= s= rest=");
        check("GET", "/api/v1/namespaces/x", "root get g= v=v1 ns=x r=namespaces n=x s= rest=");
        check("PUT", "/api/v1/namespaces/x/status", "root update g= v=v1 ns=x r=namespaces n=x s=status rest=");
        check("DELETE", "/api/v1/namespaces/x/pods", "root deletecollection g= v=v1 ns=x r=pods n= s= rest=");
        check("GET", "/api/v1/namespaces/x/pods/p/log", "root get g= v=v1 ns=x r=pods n=p s=log rest=");
        check("POST", "/apis/a.b/v1/namespaces/x/cs", "root create g=a.b v=v1 ns=x r=cs n= s= rest=");
        check("PATCH", "/apis/a.b/v1/cs/n", "root patch g=a.b v=v1 ns= r=cs n=n s= rest=");
        check("OPTIONS", "/apis/a.b/v1/cs/n", "root  g=a.b v=v1 ns= r=cs n=n s= rest=");
    }

    #[test]
    fn takes_workspaces_off() {
        check("GET", "/clusters/root:org", "root:org get ");
        check("GET", "/clusters/root:org/", "root:org get ");
        check("GET", "/clusters/root:org/version", "root:org get version");
        check("GET", "/clusters/w/api/v1/namespaces/x/pods/p", "w get g= v=v1 ns=x r=pods n=p s= rest=");
        check("GET", "/clusters", "root get clusters");
    }

    #[test]
    fn refuses_what_can_be_read_in_two_ways() {
        check("GET", "/api/v1/pods/a%2Fb", "Segment");
        check("GET", "/api/v1/pods/%2e%2e", "Segment");
        check("GET", "/api//v1", "Segment");
        check("GET", "/api/v1/pods/%zz", "Encoding");
        check("GET", "/api/v1/pods/%f", "Encoding");
        check("GET", "/api/v1/pods/%ff", "Encoding");
        check("GET", "/api/v1/pods/%C3%A9", "root get g= v=v1 ns= r=pods n=é s= rest=");
        check("GET", &"/a".repeat(5000), "Length");
    }
}
