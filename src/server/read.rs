//! get and list of stored objects, in the forms that clients ask for; where a watch begins.
//!
//! Absent: running a watch (watch), the store (storage).
use std::sync::Arc;

use cel::Value;
use serde::Serialize;
use serde_json::json;

use crate::{
    api::{ErrorCode, Status, StatusCause, StatusDetails},
    server::{
        access,
        negotiate::{self, Encoding, Form},
        object,
        published::Resource,
        reply::{self, Answer, Failure},
        request_info::ResourcePath,
        routes::{Place, SERVED},
        service::Context,
        status,
        table::{self, Column, Include},
        watch,
    },
    storage::{
        authorizer::Attributes,
        catalog::StoredVersion,
        objects::{GroupVersionKind, Listing, Object},
        selector::{FieldSelector, LabelSelector},
    },
};

/// Which objects a request is about, and how they are shown.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    pub(super) kind: GroupVersionKind,
    pub(super) list_kind: Arc<str>,
    /// `None`: all namespaces.
    pub(super) namespace: Option<String>,
    pub(super) labels: LabelSelector,
    pub(super) fields: FieldSelector,
    pub(super) form: Form,
    pub(super) encoding: Encoding,
    /// Only of Tables.
    pub(super) columns: Arc<[Column]>,
    pub(super) include: Include,
}

/// Answers a get, list or watch.
pub(super) async fn read(
    context: &Context<'_>,
    place: &Place,
    path: &ResourcePath<'_>,
    resource: &Resource,
    version: &StoredVersion,
    mut attributes: Attributes,
) -> Answer {
    let fields = context.query.get("fieldSelector").unwrap_or_default();
    if attributes.name.is_empty()
        && let Some(name) = selected_name(fields)
    {
        attributes.name = name.into();
    }
    access::require(&place.workspace, &context.user, &attributes).await?;
    let wanted =
        negotiate::objects(context.accept().as_deref()).ok_or_else(|| Box::new(status::not_acceptable(SERVED)))?;
    let bad = |message: String| -> Failure { Box::new(status::bad_request(status::echo(&message))) };
    let labels = context.query.get("labelSelector").unwrap_or_default();
    // `/api/v1/watch/namespaces/x/pods/name` is the old way to watch one object.
    let watched =
        (context.info.verb == "watch" && !path.name.is_empty()).then(|| format!("metadata.name={}", path.name));
    let reading = Reading {
        kind: GroupVersionKind::new(&path.group, &path.version, &resource.kind),
        list_kind: Arc::clone(&resource.list_kind),
        namespace: (resource.namespaced && !path.namespace.is_empty()).then(|| path.namespace.to_string()),
        labels: LabelSelector::parse(labels).map_err(|e| bad(e.to_string()))?,
        fields: FieldSelector::parse(watched.as_deref().unwrap_or(fields), &path.group, &resource.kind)
            .map_err(|e| bad(e.to_string()))?,
        form: wanted.form,
        encoding: context.pretty(wanted.encoding),
        columns: if matches!(wanted.form, Form::Table(_)) { columns(path, version) } else { Arc::new([]) },
        include: Include::parse(context.query.get("includeObject")).ok_or_else(|| {
            bad("includeObject: Unsupported value: supported values: \"Metadata\", \"None\", \"Object\"".to_owned())
        })?,
    };
    match &*context.info.verb {
        "get" => context.apart(|| get(place, path, &reading)).await?,
        "watch" => watch::watch(context, place, reading),
        _ => context.apart(|| list(context, place, reading)).await?,
    }
}

/// The name in `metadata.name=x`: rights to that object are enough then.
fn selected_name(fields: &str) -> Option<&str> {
    fields.split(',').find_map(|part| {
        let name = part.trim().strip_prefix("metadata.name=")?;
        Some(name.strip_prefix('=').unwrap_or(name)).filter(|n| !n.is_empty())
    })
}

fn columns(path: &ResourcePath<'_>, version: &StoredVersion) -> Arc<[Column]> {
    if version.columns.is_empty() {
        return table::builtin::columns(&path.group, &path.resource).unwrap_or_else(table::default_columns).into();
    }
    [Column::name()].into_iter().chain(version.columns.iter().filter_map(Column::of)).collect()
}

fn get(place: &Place, path: &ResourcePath<'_>, reading: &Reading) -> Answer {
    let namespace = reading.namespace.as_deref().unwrap_or_default();
    let object = place.workspace.objects().get(&reading.kind, namespace, &path.name);
    let object = object.ok_or_else(|| Box::new(status::not_found(&path.group, &path.resource, &path.name)))?;
    match reading.form {
        Form::Object => reply::stored(reading.encoding, object.value()),
        Form::Metadata(version) => {
            reply::stored(reading.encoding, &table::partial(&object::metadata(object.value()), version))
        }
        Form::Table(_) => {
            let metadata = json!({"resourceVersion": object.revision().to_string()});
            let table = reading.table(&[object::tree(object.value())], metadata, true);
            reply::stored(reading.encoding, &table)
        }
    }
}

impl Reading {
    /// A Table of objects; empty if no Table is wanted.
    pub(super) fn table(
        &self,
        objects: &[serde_json::Value],
        metadata: serde_json::Value,
        head: bool,
    ) -> serde_json::Value {
        match self.form {
            Form::Table(version) => table::table(&self.columns, objects, metadata, self.include, version, head),
            Form::Object | Form::Metadata(_) => serde_json::Value::Null,
        }
    }

    /// What is there now.
    pub(super) fn listing(&self, place: &Place) -> Listing {
        place.workspace.objects().list(&self.kind, self.namespace.as_deref(), &self.labels, &self.fields)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct List<'a> {
    kind: &'a str,
    api_version: &'a str,
    metadata: ListMeta,
    items: Vec<&'a Value>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListMeta {
    resource_version: String,
    #[serde(skip_serializing_if = "Option::is_none", rename = "continue")]
    continue_: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    remaining_item_count: Option<usize>,
}

fn list(context: &Context<'_>, place: &Place, reading: Reading) -> Answer {
    let limit = match context.query.non_empty("limit") {
        None => None,
        Some(text) => Some(text.parse::<i64>().map_err(|_| invalid_number("limit", text))?),
    };
    // As Kubernetes: 0 is no limit.
    let limit = limit.and_then(|l| usize::try_from(l).ok()).filter(|l| *l > 0);
    let from = context.query.non_empty("continue").map(Continue::decode).transpose()?;
    let Listing { mut items, mut revision, .. } = reading.listing(place);
    match &from {
        Some(from) => {
            let after = |o: &Arc<Object>| (&**o.namespace(), &**o.name()) > (&*from.namespace, &*from.name);
            items.retain(after);
            // The first page's: a watch from there sees every change that a later page may have missed.
            revision = from.revision;
        }
        None => check_version(context, revision)?,
    }
    let mut metadata = ListMeta { resource_version: revision.to_string(), continue_: None, remaining_item_count: None };
    if let Some(limit) = limit.filter(|l| *l < items.len()) {
        let remaining = items.len() - limit;
        items.truncate(limit);
        metadata.continue_ = items.last().map(|last| Continue::of(last, revision).encode());
        let everything = reading.labels.is_everything() && context.query.non_empty("fieldSelector").is_none();
        metadata.remaining_item_count = everything.then_some(remaining);
    }
    let (encoding, api_version) = (reading.encoding, reading.kind.api_version());
    match reading.form {
        Form::Object => {
            let items = items.iter().map(|o| o.value()).collect();
            let list = List { kind: &reading.list_kind, api_version: &api_version, metadata, items };
            reply::stored(encoding, &list)
        }
        Form::Metadata(version) => {
            let items: Vec<_> = items.iter().map(|o| table::partial(&object::metadata(o.value()), version)).collect();
            let list = json!({
                "kind": "PartialObjectMetadataList",
                "apiVersion": version.api_version(),
                "metadata": metadata,
                "items": items,
            });
            reply::stored(encoding, &list)
        }
        Form::Table(_) => {
            let trees: Vec<_> = items.iter().map(|o| object::tree(o.value())).collect();
            reply::stored(encoding, &reading.table(&trees, json!(metadata), true))
        }
    }
}

/// `resourceVersion` and `resourceVersionMatch` of a list. There is one version, the newest: older ones are as good as it
/// unless exactly they are wanted; newer ones are not there.
fn check_version(context: &Context<'_>, current: u64) -> Result<(), Failure> {
    let Some(asked) = version_parameter(context)? else { return Ok(()) };
    if asked > current {
        return Err(Box::new(too_large_version(asked, current)));
    }
    match context.query.non_empty("resourceVersionMatch") {
        Some("Exact") if asked != current => Err(Box::new(status::expired(format!(
            "The provided resource version {asked} is no longer there: the newest, {current}, is"
        )))),
        _ => Ok(()),
    }
}

/// `resourceVersion` unless it is empty or 0.
pub(super) fn version_parameter(context: &Context<'_>) -> Result<Option<u64>, Failure> {
    match context.query.non_empty("resourceVersion") {
        None | Some("0") => Ok(None),
        Some(text) => match text.parse() {
            Ok(version) => Ok(Some(version)),
            Err(_) => Err(invalid_number("resourceVersion", text)),
        },
    }
}

fn invalid_number(field: &str, text: &str) -> Failure {
    Box::new(status::bad_request(format!("{field}: Invalid value: {:?}: must be a whole number", status::echo(text))))
}

fn too_large_version(asked: u64, current: u64) -> Status {
    let message = "Too large resource version";
    let cause = StatusCause { reason: "ResourceVersionTooLarge".into(), message: message.into(), field: String::new() };
    let details = StatusDetails { causes: vec![cause], retry_after_seconds: Some(1), ..StatusDetails::default() };
    let message = format!("Timeout: {message}: {asked}, current: {current}");
    Status::new(ErrorCode::GATEWAY_TIMEOUT, "Timeout", message).with_details(details)
}

/// Where the next page begins.
struct Continue {
    revision: u64,
    namespace: String,
    name: String,
}

impl Continue {
    fn of(last: &Object, revision: u64) -> Continue {
        Continue { revision, namespace: last.namespace().to_string(), name: last.name().to_string() }
    }

    /// Opaque to clients, safe in a query.
    fn encode(&self) -> String {
        let text = format!("{}/{}/{}", self.revision, self.namespace, self.name);
        text.bytes().map(|b| format!("{b:02x}")).collect()
    }

    fn decode(token: &str) -> Result<Continue, Failure> {
        let malformed = || Box::new(status::bad_request("continue key is not valid"));
        let bytes: Option<Vec<u8>> = token
            .as_bytes()
            .chunks(2)
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
            .collect();
        let text = bytes.and_then(|b| String::from_utf8(b).ok()).ok_or_else(malformed)?;
        let mut parts = text.splitn(3, '/');
        let (Some(revision), Some(namespace), Some(name)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(malformed());
        };
        let revision = revision.parse().map_err(|_| malformed())?;
        Ok(Continue { revision, namespace: namespace.to_owned(), name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn continue_tokens_round_trip() {
        let token = Continue { revision: 7, namespace: "ns".into(), name: "a/b".into() }.encode();
        let back = Continue::decode(&token).unwrap();
        assert_eq!((back.revision, &*back.namespace, &*back.name), (7, "ns", "a/b"));
        for bad in ["x", "zz", "ff", "é", "31"] {
            assert!(Continue::decode(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn finds_the_selected_name() {
        assert_eq!(selected_name("metadata.name=a"), Some("a"));
        assert_eq!(selected_name("x=y,metadata.name==a"), Some("a"));
        assert_eq!(selected_name("metadata.name!=a"), None);
    }
}
