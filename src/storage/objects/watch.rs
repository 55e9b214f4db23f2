//! Watches: changes of the objects that are selected, in order, from a revision on.
//!
//! A watch buffers nothing: it reads the shared history at its own pace, and ends when that no longer goes back far enough.
//! Absent: bookmarks' intervals, timeouts, the wire (server).
use std::{collections::VecDeque, sync::Arc};

use super::{GroupVersionKind, Object, Objects};
use crate::storage::selector::{FieldSelector, LabelSelector};

/// One change, as the watch's selectors see it.
#[derive(Clone, Debug)]
pub enum Event {
    /// It is there now, or is selected now.
    Added(Arc<Object>),
    /// It changed.
    Modified(Arc<Object>),
    /// It is gone, or is no longer selected. The object is its last form; `resourceVersion` on the wire is `revision`.
    Deleted {
        /// The last form.
        object: Arc<Object>,
        /// The revision of the change.
        revision: u64,
    },
}

/// The history does not go back far enough: 410, reason `Expired`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too old resource version: {asked} ({oldest})")]
pub struct Expired {
    /// The revision that was asked for.
    pub asked: u64,
    /// The oldest that would do.
    pub oldest: u64,
}

/// A running watch.
#[derive(Debug)]
pub struct Watch {
    objects: Arc<Objects>,
    newest: tokio::sync::watch::Receiver<u64>,
    kind: GroupVersionKind,
    namespace: Option<Arc<str>>,
    labels: LabelSelector,
    fields: FieldSelector,
    /// All changes up to this revision are delivered or in `pending`.
    position: u64,
    pending: VecDeque<Event>,
}

/// How many changes one look at the history takes along, so that the lock is held for a short time.
const AT_ONCE: usize = 64;

impl Watch {
    pub(super) fn new(
        objects: Arc<Objects>,
        newest: tokio::sync::watch::Receiver<u64>,
        kind: GroupVersionKind,
        namespace: Option<&str>,
        labels: LabelSelector,
        fields: FieldSelector,
        position: u64,
    ) -> Watch {
        let namespace = namespace.map(Arc::from);
        Watch { objects, newest, kind, namespace, labels, fields, position, pending: VecDeque::new() }
    }

    /// The next change; waits for it. Cancel-safe.
    pub async fn next(&mut self) -> Result<Event, Expired> {
        loop {
            if let Some(event) = self.try_next()? {
                return Ok(event);
            }
            // The sender lives in `objects`, which this holds: the wait ends with a change or with the caller.
            let position = self.position;
            let _ = self.newest.wait_for(|newest| *newest > position).await;
        }
    }

    /// The next change, if it is there.
    pub fn try_next(&mut self) -> Result<Option<Event>, Expired> {
        while self.pending.is_empty() {
            let before = self.position;
            self.take()?;
            if self.position == before {
                break;
            }
        }
        Ok(self.pending.pop_front())
    }

    /// The revision that a bookmark sent now may name: everything up to it was delivered.
    pub fn position(&self) -> Option<u64> {
        self.pending.is_empty().then_some(self.position)
    }

    fn take(&mut self) -> Result<(), Expired> {
        let objects = Arc::clone(&self.objects);
        objects.read(|state| {
            state.history.check(self.position, state.revision)?;
            let mut position = state.revision;
            for (i, change) in state.history.after(self.position).enumerate() {
                if i == AT_ONCE {
                    break;
                }
                position = change.revision;
                let selected = |object: &Option<Arc<Object>>| object.clone().filter(|object| self.selects(object));
                let event = match (selected(&change.before), selected(&change.after)) {
                    (None, None) => continue,
                    (None, Some(after)) => Event::Added(after),
                    (Some(_), Some(after)) => Event::Modified(after),
                    (Some(object), None) => Event::Deleted { object, revision: change.revision },
                };
                self.pending.push_back(event);
            }
            self.position = position;
            Ok(())
        })
    }

    fn selects(&self, object: &Object) -> bool {
        *object.kind() == self.kind
            && self.namespace.as_ref().is_none_or(|namespace| namespace == object.namespace())
            && object.is_selected(&self.labels, &self.fields)
    }
}
