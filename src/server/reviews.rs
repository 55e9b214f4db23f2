//! Kubernetes' own virtual kinds: who am I, what may I (or another) do. They are what `kubectl auth` posts.
//!
//! Absent: how it is decided (access, storage's authorizer).
use http::{StatusCode, header};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use crate::{
    api::UserInfo,
    engine::{diagnostic::FieldPath, schema::field_error},
    server::{
        access,
        negotiate::{self, Media},
        object, protobuf,
        published::Resource,
        reply::{self, Answer, Failure},
        request_info::ResourcePath,
        routes::{Place, SERVED},
        service::Context,
        status,
    },
    storage::{
        authorizer::Attributes,
        decode::{self, Format},
    },
};

/// What is accepted: reviews are all that is read from protobuf.
const ACCEPTED: &str = "application/json, application/yaml, application/vnd.kubernetes.protobuf";

/// The spec of the access reviews.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
struct AccessSpec {
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_attributes: Option<ResourceAttributes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    non_resource_attributes: Option<NonResourceAttributes>,
    #[serde(skip_serializing_if = "String::is_empty")]
    user: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    groups: Vec<String>,
    #[serde(skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    extra: std::collections::BTreeMap<String, Vec<String>>,
    #[serde(skip_serializing_if = "String::is_empty")]
    uid: String,
}

#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
struct ResourceAttributes {
    #[serde(skip_serializing_if = "String::is_empty")]
    namespace: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    verb: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    group: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    version: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    resource: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    subresource: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    name: String,
}

#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
struct NonResourceAttributes {
    #[serde(skip_serializing_if = "String::is_empty")]
    path: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    verb: String,
}

#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
struct RulesSpec {
    #[serde(skip_serializing_if = "String::is_empty")]
    namespace: String,
}

/// Answers a create of a review.
pub(super) async fn create(
    context: &Context<'_>,
    place: &Place,
    path: &ResourcePath<'_>,
    resource: &Resource,
    body: &[u8],
) -> Answer {
    let wanted =
        negotiate::objects(context.accept().as_deref()).ok_or_else(|| Box::new(status::not_acceptable(SERVED)))?;
    let sent = read(context, path, resource, body)?;
    let (spec, answer) = match &*resource.kind {
        "SelfSubjectReview" => (None, json!({"userInfo": context.user})),
        "SelfSubjectRulesReview" => {
            let spec: RulesSpec = spec(&sent, resource)?;
            if spec.namespace.is_empty() {
                return Err(Box::new(status::bad_request("no namespace on request")));
            }
            let rules = || access::rules(&place.workspace, &context.user, &spec.namespace);
            let rules = context.apart(rules).await?;
            (Some(json!(spec)), json!(rules))
        }
        kind => {
            let spec: AccessSpec = spec(&sent, resource)?;
            let user = subject(context, &sent, resource, &spec)?;
            let attributes = attributes(&sent, resource, &spec)?;
            if kind == "LocalSubjectAccessReview" && *attributes.namespace != *path.namespace {
                let at = FieldPath::root().field("spec").field("resourceAttributes").field("namespace");
                let value = cel::Value::from(&*attributes.namespace);
                let detail = "must match metadata.namespace and the namespace of the request";
                return Err(invalid(&sent, resource, field_error::invalid(&at, &value, detail)));
            }
            let decision = access::decide(&place.workspace, &user, &attributes).await;
            let mut answer = json!({"allowed": decision.allowed});
            if let (Value::Object(answer), false) = (&mut answer, decision.reason.is_empty()) {
                answer.insert("reason".to_owned(), (*decision.reason).into());
            }
            (Some(json!(spec)), answer)
        }
    };
    let mut out = json!({
        "kind": resource.kind,
        "apiVersion": format!("{}/{}", path.group, path.version),
        "metadata": {"creationTimestamp": creation_timestamp(resource)},
        "status": answer,
    });
    if let (Value::Object(out), Some(spec)) = (&mut out, spec) {
        out.insert("spec".to_owned(), spec);
    }
    reply::value(StatusCode::CREATED, context.pretty(wanted.encoding), &out)
}

/// Only SelfSubjectReview tells when it was answered.
fn creation_timestamp(resource: &Resource) -> Value {
    if &*resource.kind == "SelfSubjectReview" {
        let now = jiff::Timestamp::now();
        let seconds = jiff::Timestamp::from_second(now.as_second()).unwrap_or(now);
        seconds.to_string().into()
    } else {
        Value::Null
    }
}

fn read(
    context: &Context<'_>,
    path: &ResourcePath<'_>,
    resource: &Resource,
    body: &[u8],
) -> Result<Map<String, Value>, Failure> {
    let bad = |message: String| -> Failure { Box::new(status::bad_request(message)) };
    let expected = format!("{}/{}", path.group, path.version);
    let sent = match negotiate::content_type(context.header(header::CONTENT_TYPE)) {
        Media::Unknown => return Err(Box::new(status::unsupported_media_type(ACCEPTED))),
        Media::Protobuf => protobuf::review(body).map_err(|e| bad(e.to_string()))?,
        media => {
            let format = if media == Media::Yaml { Format::Yaml } else { Format::Json };
            let unrecognized = |problem: &str| {
                bad(format!("the object provided is unrecognized (must be of type {}){problem}", resource.kind))
            };
            match decode::value(format, body).map(|value| object::tree(&value)) {
                Ok(Value::Object(object)) => object,
                Ok(_) => return Err(unrecognized("")),
                Err(problem) => return Err(unrecognized(&format!(": {}", status::echo(&problem)))),
            }
        }
    };
    let text = |field: &str| sent.get(field).and_then(Value::as_str).unwrap_or_default();
    if text("apiVersion") != expected {
        let found = status::echo(text("apiVersion"));
        return Err(bad(format!(
            "the API version in the data ({found}) does not match the expected API version ({expected})"
        )));
    }
    if text("kind") != &*resource.kind {
        return Err(bad(format!(
            "{} in version {:?} cannot be handled as a {}: converting ({expected}.{}) to ({expected}.{2}): unknown conversion",
            status::echo(text("kind")),
            path.version,
            resource.kind,
            status::echo(text("kind"))
        )));
    }
    Ok(sent)
}

fn spec<T: DeserializeOwned + Default>(sent: &Map<String, Value>, resource: &Resource) -> Result<T, Failure> {
    let Some(spec) = sent.get("spec").filter(|s| !s.is_null()) else { return Ok(T::default()) };
    // Borrowed deserializers are not cloned; reviews are small.
    serde_json::from_value(spec.clone()).map_err(|e| {
        let kind = &resource.kind;
        let e = status::echo(&e.to_string());
        Box::new(status::bad_request(format!("{kind} in version \"v1\" cannot be handled as a {kind}: {e}")))
    })
}

fn invalid(sent: &Map<String, Value>, resource: &Resource, error: field_error::FieldError) -> Failure {
    let name = sent.get("metadata").and_then(|m| m.get("name")).and_then(Value::as_str).unwrap_or_default();
    Box::new(status::invalid("authorization.k8s.io", &resource.kind, name, &[error]))
}

/// Whose rights are asked for.
fn subject(
    context: &Context<'_>,
    sent: &Map<String, Value>,
    resource: &Resource,
    spec: &AccessSpec,
) -> Result<UserInfo, Failure> {
    if &*resource.kind == "SelfSubjectAccessReview" {
        return Ok(context.user.clone());
    }
    if spec.user.is_empty() && spec.groups.is_empty() {
        let at = FieldPath::root().field("spec").field("user");
        let value = cel::Value::from("");
        let error = field_error::invalid(&at, &value, "at least one of user or group must be specified");
        return Err(invalid(sent, resource, error));
    }
    Ok(UserInfo {
        username: spec.user.clone(),
        uid: spec.uid.clone(),
        groups: spec.groups.clone(),
        extra: spec.extra.clone(),
    })
}

fn attributes(sent: &Map<String, Value>, resource: &Resource, spec: &AccessSpec) -> Result<Attributes, Failure> {
    match (&spec.resource_attributes, &spec.non_resource_attributes) {
        (Some(r), None) => Ok(Attributes {
            verb: r.verb.as_str().into(),
            group: r.group.as_str().into(),
            version: r.version.as_str().into(),
            resource: r.resource.as_str().into(),
            subresource: r.subresource.as_str().into(),
            namespace: r.namespace.as_str().into(),
            name: r.name.as_str().into(),
            path: None,
        }),
        (None, Some(n)) => {
            Ok(Attributes { verb: n.verb.as_str().into(), path: Some(n.path.as_str().into()), ..Attributes::default() })
        }
        (given, _) => {
            let detail = if given.is_some() {
                "cannot be specified in combination with nonResourceAttributes"
            } else {
                "exactly one of nonResourceAttributes or resourceAttributes must be specified"
            };
            let at = FieldPath::root().field("spec").field("resourceAttributes");
            Err(invalid(sent, resource, field_error::invalid_omitted(&at, detail)))
        }
    }
}
