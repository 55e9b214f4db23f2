//! Which part of the server answers which path and verb.
//!
//! Absent: the answers.
use std::{borrow::Cow, sync::Arc};

use bytes::Bytes;
use http::{HeaderValue, Method, Response, StatusCode, header};

use crate::{
    api::user::MASTERS,
    server::{
        access,
        body::{self, Body},
        create, discovery,
        documents::{Document, Documents},
        negotiate::{self, Discovery, Encoding, OpenApi},
        probes,
        published::{self, Served},
        read,
        reply::{self, Answer, Failure},
        request_info::{ResourcePath, Target},
        reviews,
        service::Context,
        status,
    },
    storage::{
        authorizer::Attributes,
        catalog::Catalog,
        workspace::{ROOT, Workspace},
    },
};

/// What discovery and objects are written in.
pub(super) const SERVED: &str = "application/json, application/yaml";

/// A request in its workspace, at one snapshot of what that serves.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) workspace: Arc<Workspace>,
    pub(super) documents: Arc<Documents>,
}

impl Place {
    pub(super) fn catalog(&self) -> &Catalog {
        self.documents.catalog()
    }
}

/// Whether a path tells of the server alone.
pub(super) fn is_probe(path: &[Cow<'_, str>]) -> bool {
    matches!(path, [first, ..] if ["livez", "readyz", "healthz"].contains(&&**first))
}

/// Answers a request.
pub(super) async fn route(context: &Context<'_>, body: Bytes) -> Answer {
    let path = &context.info.segments;
    if is_probe(path) && context.info.prefix.is_empty() {
        only_read(context)?;
        let closing = *context.server.closing().borrow();
        return Ok(match path.as_slice() {
            [probe] => probes::health(probe, None, closing, context.query),
            [probe, check] => probes::health(probe, Some(check), closing, context.query),
            _ => reply::page_not_found(),
        });
    }
    let workspaces = &context.server.workspaces;
    // Everybody is in the workspace of the server itself. Others are told to be there, or not, to those alone who may do
    // something in one of that name: to all others the answer is the same for both.
    let workspace = workspaces.get(&context.info.workspace);
    let workspace = workspace.filter(|found| **found.path() == *ROOT || found.authorizer().knows(&context.user));
    let workspace = workspace.ok_or_else(|| match context.user.in_group(MASTERS) {
        true => Box::new(status::not_found("", "workspaces", &context.info.workspace)),
        false => Box::new(access::forbidden(&context.user, &path_attributes(context), "")),
    })?;
    let documents = context.server.documents.of(&workspace, |path| workspaces.get(path).is_some());
    let place = Place { workspace, documents };
    match &context.info.target {
        Target::Path => page(context, &place, path).await,
        Target::Resource(path) => resource(context, place, path, body).await,
    }
}

/// A request for a path that is no resource.
fn path_attributes(context: &Context<'_>) -> Attributes {
    Attributes {
        verb: if *context.method == Method::HEAD {
            "get".into()
        } else {
            context.method.as_str().to_ascii_lowercase().into()
        },
        path: Some(context.info.path().into()),
        ..Attributes::default()
    }
}

async fn page(context: &Context<'_>, place: &Place, path: &[Cow<'_, str>]) -> Answer {
    access::require(&place.workspace, &context.user, &path_attributes(context)).await?;
    let path: Vec<&str> = path.iter().map(|segment| &**segment).collect();
    let groups = place.documents.groups();
    let legacy = |document: serde_json::Value| {
        let encoding = negotiate::objects(context.accept().as_deref()).ok_or_else(not_acceptable)?.encoding;
        reply::value(StatusCode::OK, context.pretty(encoding), &document)
    };
    match path.as_slice() {
        [] => only_read(context).and_then(|()| legacy(probes::paths(groups))),
        ["version"] => only_read(context).and_then(|()| legacy(probes::version())),
        [root @ ("api" | "apis")] => {
            only_read(context)?;
            let core = *root == "api";
            match negotiate::discovery(context.accept().as_deref()).ok_or_else(not_acceptable)? {
                (Discovery::Legacy, _) if core => legacy(discovery::api_versions()),
                (Discovery::Legacy, _) => legacy(discovery::group_list(groups)),
                (form, encoding) => aggregated(context, place, core, form, encoding),
            }
        }
        ["apis", group] => {
            only_read(context)?;
            match groups.iter().find(|g| *g.name == **group && !g.name.is_empty()) {
                Some(group) => legacy(discovery::group(group)),
                None => Ok(reply::page_not_found()),
            }
        }
        ["api", version] => version_page(context, groups, "", version, legacy),
        ["apis", group, version] => version_page(context, groups, group, version, legacy),
        ["openapi", rest @ ..] => {
            only_read(context)?;
            openapi(context, place, rest).await
        }
        _ => Ok(reply::page_not_found()),
    }
}

fn version_page(
    context: &Context<'_>,
    groups: &[published::Group],
    group: &str,
    version: &str,
    legacy: impl Fn(serde_json::Value) -> Answer,
) -> Answer {
    only_read(context)?;
    let found = groups.iter().find(|g| *g.name == *group);
    match found.and_then(|g| Some((g, g.versions.iter().find(|v| *v.name == *version)?))) {
        Some((group, version)) => legacy(discovery::resource_list(group, version)),
        None => Ok(reply::page_not_found()),
    }
}

fn aggregated(context: &Context<'_>, place: &Place, core: bool, form: Discovery, encoding: Encoding) -> Answer {
    let beta = form == Discovery::V2Beta1;
    let document = place.documents.aggregated(core, beta);
    // The parameters must come back: kubectl takes a plain type for the legacy form, and panics on this one.
    let content_type = match (encoding, beta) {
        (Encoding::Yaml, false) => "application/yaml;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
        (Encoding::Yaml, true) => "application/yaml;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList",
        (_, false) => "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
        (_, true) => "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList",
    };
    let mut response = match encoding {
        Encoding::Yaml => {
            let value: serde_json::Value = serde_json::from_slice(&document.bytes).unwrap_or_default();
            reply::bytes(StatusCode::OK, content_type, encoding.write(&value)?)
        }
        _ => tagged(context, document, content_type),
    };
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("Accept"));
    Ok(response)
}

/// A document with its ETag, or 304 if the client has it.
fn tagged(context: &Context<'_>, document: &Document, content_type: &'static str) -> Response<Body> {
    let tag = format!("\"{}\"", document.hash);
    let known = context.headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|v| v.to_str().ok()).any(|v| {
        v.split(',').map(|t| t.trim().trim_start_matches("W/")).any(|t| t == "*" || t == tag || t == document.hash)
    });
    let mut response = if known {
        let mut response = Response::new(body::full(Bytes::new()));
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        reply::bytes(StatusCode::OK, content_type, document.bytes.clone())
    };
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

async fn openapi(context: &Context<'_>, place: &Place, path: &[&str]) -> Answer {
    let accept = context.accept();
    // Building thousands of schemas takes a while; other requests on this thread shall not wait for it.
    let documents = Arc::clone(&place.documents);
    match path {
        ["v2"] => {
            let form = negotiate::openapi(accept.as_deref(), true).ok_or_else(not_acceptable)?;
            blocking(move || {
                match form {
                    OpenApi::Json => documents.openapi_v2(),
                    OpenApi::Protobuf => documents.openapi_v2_protobuf(),
                };
            })
            .await?;
            Ok(match form {
                OpenApi::Json => tagged(context, place.documents.openapi_v2(), "application/json"),
                OpenApi::Protobuf => tagged(
                    context,
                    place.documents.openapi_v2_protobuf(),
                    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
                ),
            })
        }
        ["v3"] => {
            blocking(move || {
                documents.openapi_v3();
            })
            .await?;
            let root = openapi_root(place.documents.openapi_v3(), &context.info.prefix);
            reply::value(StatusCode::OK, Encoding::Json, &root)
        }
        ["v3", rest @ ..] => {
            negotiate::openapi(accept.as_deref(), false).ok_or_else(not_acceptable)?;
            blocking(move || {
                documents.openapi_v3();
            })
            .await?;
            let path = rest.join("/");
            let Some(document) = place.documents.openapi_v3().get(&path) else { return Ok(reply::page_not_found()) };
            match context.query.non_empty("hash") {
                Some(hash) if hash != document.hash => {
                    let location = openapi_url(&context.info.prefix, &path, document);
                    let mut response = reply::bytes(StatusCode::MOVED_PERMANENTLY, "text/plain", "");
                    if let Ok(location) = HeaderValue::from_str(&location) {
                        response.headers_mut().insert(header::LOCATION, location);
                    }
                    Ok(response)
                }
                Some(_) => {
                    let response = tagged(context, document, "application/json");
                    // The hash is in the URL: what it names never changes.
                    Ok(reply::with(response, header::CACHE_CONTROL, "public, immutable"))
                }
                None => Ok(tagged(context, document, "application/json")),
            }
        }
        _ => Ok(reply::page_not_found()),
    }
}

async fn blocking(work: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    tokio::task::spawn_blocking(work).await.map_err(|_| Box::new(status::internal("a document could not be built")))
}

fn openapi_root(documents: &std::collections::BTreeMap<String, Document>, prefix: &str) -> serde_json::Value {
    let paths: serde_json::Map<_, _> = documents
        .iter()
        .map(|(path, d)| (path.clone(), serde_json::json!({"serverRelativeURL": openapi_url(prefix, path, d)})))
        .collect();
    serde_json::json!({"paths": paths})
}

fn openapi_url(prefix: &str, path: &str, document: &Document) -> String {
    format!("{prefix}/openapi/v3/{path}?hash={}", document.hash)
}

async fn resource(context: &Context<'_>, place: Place, path: &ResourcePath<'_>, body: Bytes) -> Answer {
    let groups = place.documents.groups();
    let found = match published::find(groups, &path.group, &path.version, &path.resource) {
        Ok(found) => found,
        Err(true) => return Err(Box::new(status::no_such_resource())),
        Err(false) => return Ok(reply::page_not_found()),
    };
    let resource = found.resource;
    // Of namespaced kinds all namespaces can be read at once; nothing else goes without a namespace.
    let across = ["list", "watch"].contains(&&*context.info.verb) || matches!(resource.served, Served::Ephemeral(_));
    let is_namespace = path.group.is_empty() && path.resource == "namespaces";
    let misplaced = if resource.namespaced { path.namespace.is_empty() && !across } else { !path.namespace.is_empty() };
    if (misplaced && !is_namespace) || !path.rest.is_empty() {
        return Err(Box::new(status::no_such_resource()));
    }
    let attributes = access::attributes(context.info, found, path);
    match &resource.served {
        Served::Ephemeral(version) => {
            // Told before rights are looked at: nobody has rights to what cannot be done, and discovery is public.
            if context.info.verb != "create" || !path.name.is_empty() {
                let encoding = negotiate::objects(context.accept().as_deref()).map_or(Encoding::Json, |w| w.encoding);
                let response = reply::failure(&status::create_only(&path.group, &path.resource), encoding);
                return Ok(reply::with(response, header::ALLOW, "POST"));
            }
            if resource.namespaced && path.namespace.is_empty() {
                return Err(Box::new(status::no_such_resource()));
            }
            access::require(&place.workspace, &context.user, &attributes).await?;
            create::create(context, &place, path, version, &body).await
        }
        Served::Review => {
            if context.info.verb != "create" || !path.name.is_empty() {
                return Ok(not_allowed(&status::method_not_allowed(), "POST"));
            }
            access::require(&place.workspace, &context.user, &attributes).await?;
            reviews::create(context, &place, path, resource, &body).await
        }
        Served::Stored(version) => {
            if !path.subresource.is_empty() {
                return Err(Box::new(status::no_subresource(&path.group, &path.resource, &path.subresource)));
            }
            match &*context.info.verb {
                "get" | "list" | "watch" => read::read(context, &place, path, resource, version, attributes).await,
                verb => Ok(not_allowed(&status::read_only(&path.group, &path.resource, past(verb)), "GET, HEAD")),
            }
        }
    }
}

fn past(verb: &str) -> &str {
    match verb {
        "create" => "created",
        "update" => "updated",
        "patch" => "patched",
        "delete" | "deletecollection" => "deleted",
        _ => "changed",
    }
}

fn only_read(context: &Context<'_>) -> Result<(), Failure> {
    match *context.method {
        Method::GET | Method::HEAD => Ok(()),
        _ => Err(Box::new(status::method_not_allowed())),
    }
}

fn not_allowed(failure: &crate::api::Status, allow: &'static str) -> Response<Body> {
    reply::with(reply::failure(failure, Encoding::Json), header::ALLOW, allow)
}

fn not_acceptable() -> Failure {
    Box::new(status::not_acceptable(SERVED))
}
