//! The newest changes, from which watches go on.
//!
//! Absent: who watches what.
use std::{collections::VecDeque, sync::Arc};

use super::{Object, watch::Expired};

/// How many changes are kept. Whoever is further behind lists again, as with etcd's compaction. Objects are shared, so
/// that a change costs little more than the object that it replaced.
const KEPT: usize = 4_096;

/// A change of one object.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) revision: u64,
    pub(super) before: Option<Arc<Object>>,
    pub(super) after: Option<Arc<Object>>,
}

/// The newest changes in the order of their revisions.
#[derive(Debug)]
pub(super) struct History {
    /// All changes after this revision are here.
    complete_after: u64,
    changes: VecDeque<Change>,
}

impl History {
    pub(super) fn new(revision: u64) -> History {
        History { complete_after: revision, changes: VecDeque::new() }
    }

    pub(super) fn push(&mut self, change: Change) {
        self.changes.push_back(change);
        if self.changes.len() > KEPT
            && let Some(dropped) = self.changes.pop_front()
        {
            self.complete_after = dropped.revision;
        }
    }

    /// Whether a watch can go on after a revision.
    pub(super) fn check(&self, after: u64, newest: u64) -> Result<(), Expired> {
        if after < self.complete_after || after > newest {
            Err(Expired { asked: after, oldest: self.complete_after })
        } else {
            Ok(())
        }
    }

    pub(super) fn after(&self, revision: u64) -> impl Iterator<Item = &Change> {
        let first = self.changes.partition_point(|change| change.revision <= revision);
        self.changes.range(first..)
    }
}
