//! Watches on the wire: chunks of JSON events, bookmarks, the initial events of streaming lists, their end.
//!
//! Absent: which changes there are (storage's watches).
use std::{convert::Infallible, sync::Arc, time::Duration};

use bytes::Bytes;
use cel::Value;
use http::{Response, StatusCode, header};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;
use serde::Serialize;
use serde_json::json;
use tokio::{
    sync::{OwnedSemaphorePermit, watch},
    time::Instant,
};

use crate::{
    server::{
        negotiate::{Encoding, Form},
        object,
        read::{Reading, version_parameter},
        reply::{self, Answer},
        routes::Place,
        service::{Context, busy},
        status, table,
    },
    storage::objects::{Event, Expired, Object, Watch},
};

/// How often an unchanged watch tells where it is; kube-apiserver's interval.
const BOOKMARK_INTERVAL: Duration = Duration::from_secs(60);

/// Begins a watch.
pub(super) fn watch(context: &Context<'_>, place: &Place, reading: Reading) -> Answer {
    if reading.encoding == Encoding::Yaml {
        return Err(Box::new(status::not_acceptable("application/json")));
    }
    let Ok(permit) = Arc::clone(&context.server.watches).try_acquire_owned() else { return Ok(busy()) };
    let query = context.query;
    let send_initial = query.non_empty("sendInitialEvents").map(|_| query.bool("sendInitialEvents"));
    if send_initial.is_some() && query.get("resourceVersionMatch") != Some("NotOlderThan") {
        return Err(Box::new(status::bad_request(
            "sendInitialEvents: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
        )));
    }
    let after = version_parameter(context)?;
    // Without a version, or with 0, everything that is there is an event of its own, as in kube-apiserver.
    let with_initial = send_initial.unwrap_or(after.is_none());
    let (initial, after) = if with_initial {
        let listing = reading.listing(place);
        (listing.items, Some(listing.revision))
    } else {
        (Vec::new(), after)
    };
    let objects = place.workspace.objects();
    let (namespace, labels, fields) = (reading.namespace.as_deref(), reading.labels.clone(), reading.fields.clone());
    let changes = objects
        .watch(&reading.kind, namespace, labels, fields, after)
        .map_err(|e| Box::new(status::expired(e.to_string())))?;
    let lasts = query.non_empty("timeoutSeconds").and_then(|t| t.parse().ok()).map(Duration::from_secs);
    let now = Instant::now();
    let stream = Stream {
        initial_end: (send_initial == Some(true)).then_some(after).flatten(),
        initial: initial.into_iter(),
        changes,
        head_sent: false,
        bookmarks: query.bool("allowWatchBookmarks"),
        next_bookmark: now + BOOKMARK_INTERVAL,
        ends: now + lasts.filter(|d| !d.is_zero()).map_or(context.deadline, |d| d.min(context.deadline)),
        closing: context.server.closing(),
        over: false,
        _permit: permit,
        reading,
    };
    let frames = futures_util::stream::unfold(stream, |mut stream| async move {
        let bytes = stream.next().await?;
        Some((Ok::<_, Infallible>(Frame::data(bytes)), stream))
    });
    let mut response = Response::new(StreamBody::new(frames).boxed_unsync());
    *response.status_mut() = StatusCode::OK;
    response.extensions_mut().insert(reply::Endless);
    Ok(reply::with(response, header::CONTENT_TYPE, "application/json"))
}

struct Stream {
    reading: Reading,
    initial: std::vec::IntoIter<Arc<Object>>,
    /// The revision of the bookmark that tells that the initial events are over.
    initial_end: Option<u64>,
    changes: Watch,
    /// Whether the columns of a Table were told.
    head_sent: bool,
    bookmarks: bool,
    next_bookmark: Instant,
    ends: Instant,
    closing: watch::Receiver<bool>,
    over: bool,
    _permit: OwnedSemaphorePermit,
}

/// Why a watch has something to do.
enum Next {
    Closing,
    End,
    Change(Result<Event, Expired>),
    Bookmark(u64),
}

#[derive(Serialize)]
struct Line<'a, T> {
    #[serde(rename = "type")]
    ty: &'static str,
    object: &'a T,
}

impl Stream {
    async fn next(&mut self) -> Option<Bytes> {
        if self.over {
            return None;
        }
        if let Some(object) = self.initial.next() {
            return self.event("ADDED", object.value());
        }
        if let Some(revision) = self.initial_end.take() {
            return self.bookmark(revision, true);
        }
        match self.wait().await {
            Next::Closing => None,
            Next::End => {
                self.over = true;
                let position = self.changes.position().filter(|_| self.bookmarks)?;
                self.bookmark(position, false)
            }
            Next::Change(change) => self.change(change),
            Next::Bookmark(position) => self.bookmark(position, false),
        }
    }

    async fn wait(&mut self) -> Next {
        loop {
            tokio::select! {
                biased;
                _ = self.closing.wait_for(|closing| *closing) => return Next::Closing,
                () = tokio::time::sleep_until(self.ends) => return Next::End,
                change = self.changes.next() => return Next::Change(change),
                () = tokio::time::sleep_until(self.next_bookmark), if self.bookmarks => {
                    self.next_bookmark = Instant::now() + BOOKMARK_INTERVAL;
                    if let Some(position) = self.changes.position() {
                        return Next::Bookmark(position);
                    }
                }
            }
        }
    }

    fn change(&mut self, change: Result<Event, Expired>) -> Option<Bytes> {
        match change {
            Ok(Event::Added(object)) => self.event("ADDED", object.value()),
            Ok(Event::Modified(object)) => self.event("MODIFIED", object.value()),
            Ok(Event::Deleted { object, revision }) => {
                self.event("DELETED", &object::at_revision(object.value(), revision))
            }
            Err(expired) => {
                self.over = true;
                line("ERROR", &status::expired(expired.to_string()))
            }
        }
    }

    fn event(&mut self, ty: &'static str, object: &Value) -> Option<Bytes> {
        match self.reading.form {
            Form::Object => line(ty, object),
            Form::Metadata(version) => line(ty, &table::partial(&object::metadata(object), version)),
            Form::Table(_) => {
                let tree = object::tree(object);
                let version = tree.pointer("/metadata/resourceVersion").cloned().unwrap_or_default();
                let head = !std::mem::replace(&mut self.head_sent, true);
                line(ty, &self.reading.table(&[tree], json!({"resourceVersion": version}), head))
            }
        }
    }

    fn bookmark(&mut self, revision: u64, initial_end: bool) -> Option<Bytes> {
        let mut metadata = json!({"resourceVersion": revision.to_string(), "creationTimestamp": null});
        if let (true, serde_json::Value::Object(metadata)) = (initial_end, &mut metadata) {
            metadata.insert("annotations".to_owned(), json!({"k8s.io/initial-events-end": "true"}));
        }
        let (kind, api_version) = match self.reading.form {
            Form::Object => (&*self.reading.kind.kind, self.reading.kind.api_version()),
            Form::Metadata(version) => ("PartialObjectMetadata", version.api_version().to_owned()),
            Form::Table(_) => {
                let metadata = json!({"resourceVersion": revision.to_string()});
                let head = !std::mem::replace(&mut self.head_sent, true);
                return line("BOOKMARK", &self.reading.table(&[], metadata, head));
            }
        };
        line("BOOKMARK", &json!({"kind": kind, "apiVersion": api_version, "metadata": metadata}))
    }
}

/// One event; `None`, which ends the watch, if it cannot be written.
fn line(ty: &'static str, object: &impl Serialize) -> Option<Bytes> {
    match serde_json::to_vec(&Line { ty, object }) {
        Ok(mut bytes) => {
            bytes.push(b'\n');
            Some(bytes.into())
        }
        Err(error) => {
            tracing::error!(%error, "an event could not be written");
            None
        }
    }
}
