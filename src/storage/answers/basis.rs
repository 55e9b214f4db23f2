//! What an answer was made from: objects with their revisions, lists with those of their items, what the authorizer said,
//! and until when what came from elsewhere is fresh.
//!
//! Absent: values; answers keep their own.
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use futures_util::future::try_join_all;
use tokio::time::Instant;

use crate::{
    api::UserInfo,
    storage::{
        authorizer::{Attributes, Authorizer, Decision},
        objects::{Object, ObjectKey, Objects},
        selector::LabelSelector,
    },
};

/// Everything that one evaluation was handed.
#[derive(Debug)]
pub(crate) struct Basis {
    reads: Vec<Read>,
    decisions: Vec<Decided>,
    /// When the first of what came from elsewhere is no longer fresh.
    fresh_until: Option<Instant>,
    /// Something was handed over that holds for this one evaluation only.
    once: bool,
    /// A revision of the store at which everything held.
    held_at: AtomicU64,
}

/// One read of the workspace's objects.
#[derive(Debug)]
pub(crate) struct Read {
    /// What was found.
    pub(crate) what: What,
    /// What the consumer must be allowed to do; `None` for reads with the provider's rights.
    pub(crate) consumer: Option<Attributes>,
}

/// What the authorizer said to an expression.
#[derive(Debug)]
pub(crate) struct Decided {
    /// The service account that was asked about; `None`: the user of the request.
    pub(crate) account: Option<UserInfo>,
    /// What was asked.
    pub(crate) attributes: Attributes,
    /// The whole answer: expressions see the reason too.
    pub(crate) decision: Decision,
}

/// What a read found.
#[derive(Debug)]
pub(crate) enum What {
    /// One object, or that there is none.
    Object {
        /// Which.
        key: ObjectKey,
        /// As it was.
        revision: Option<u64>,
    },
    /// The objects that a selector selects.
    List(Box<ListRead>),
}

/// A list, and what was on it.
#[derive(Debug)]
pub(crate) struct ListRead {
    /// The kind and the namespace; the name is empty, and so is the namespace of lists of all.
    of: ObjectKey,
    labels: LabelSelector,
    /// Of the collection, when the items were these.
    collection: AtomicU64,
    /// Revisions of the items.
    items: Arc<[u64]>,
}

/// Who wants to use an answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a> {
    pub(super) objects: &'a Objects,
    pub(super) authorizer: &'a Authorizer,
    pub(super) user: &'a UserInfo,
}

impl What {
    /// An object that was looked for.
    pub(crate) fn object(key: ObjectKey, found: Option<&Object>) -> What {
        What::Object { key, revision: found.map(Object::revision) }
    }

    /// A list: the revisions of its items, and of the collection when they were these. The namespace is empty for all.
    pub(crate) fn list(of: ObjectKey, labels: LabelSelector, items: Arc<[u64]>, collection: u64) -> What {
        What::List(Box::new(ListRead { of, labels, collection: AtomicU64::new(collection), items }))
    }

    fn holds(&self, objects: &Objects) -> bool {
        match self {
            What::Object { key, revision } => {
                objects.get(&key.kind, &key.namespace, &key.name).map(|object| object.revision()) == *revision
            }
            What::List(list) => list.holds(objects),
        }
    }

    fn weight(&self) -> usize {
        match self {
            What::Object { .. } => 0,
            What::List(list) => size_of::<ListRead>() + 256 + size_of_val(&*list.items),
        }
    }
}

impl ListRead {
    fn holds(&self, objects: &Objects) -> bool {
        let namespace = (!self.of.namespace.is_empty()).then_some(&*self.of.namespace);
        let collection = objects.collection_revision(&self.of.kind, namespace);
        if collection == self.collection.load(Ordering::Relaxed) {
            return true;
        }
        // Something changed in the collection, perhaps nothing that is selected.
        let (now, collection) = objects.select(&self.of.kind, namespace, &self.labels);
        if now.revisions != self.items {
            return false;
        }
        self.collection.store(collection, Ordering::Relaxed);
        true
    }
}

impl Basis {
    /// Of an evaluation that begins now.
    pub(crate) fn new(objects: &Objects) -> Basis {
        Basis {
            reads: vec![],
            decisions: vec![],
            fresh_until: None,
            once: false,
            held_at: AtomicU64::new(objects.revision()),
        }
    }

    /// Objects were read.
    pub(crate) fn read(&mut self, read: Read) {
        self.reads.push(read);
    }

    /// The authorizer was asked.
    pub(crate) fn decided(&mut self, decided: Decided) {
        self.decisions.push(decided);
    }

    /// Something came from elsewhere that is fresh until then.
    pub(crate) fn fresh_until(&mut self, until: Instant) {
        self.fresh_until = Some(self.fresh_until.map_or(until, |earlier| earlier.min(until)));
    }

    /// Something was handed over that is not for others.
    pub(crate) fn once(&mut self) {
        self.once = true;
    }

    /// Whether others may use what was made of it.
    pub(super) fn may_be_shared(&self) -> bool {
        !self.once
    }

    /// When it ends, whatever happens to objects.
    pub(super) fn ends(&self) -> Option<Instant> {
        self.fresh_until
    }

    /// Whether all objects that were read are as they were.
    pub(super) fn holds(&self, objects: &Objects) -> bool {
        // Read first: what changes while the reads are looked at has a later one.
        let newest = objects.revision();
        if newest == self.held_at.load(Ordering::Relaxed) {
            return true;
        }
        let holds = self.reads.iter().all(|read| read.what.holds(objects));
        if holds {
            self.held_at.store(newest, Ordering::Relaxed);
        }
        holds
    }

    /// Whether it is the user's too: they may read all that was read with the consumer's rights, and the authorizer says of
    /// them what it said.
    pub(super) async fn is_for(&self, reader: &Reader<'_>) -> bool {
        let Reader { authorizer, user, .. } = reader;
        if matches!(authorizer, Authorizer::AlwaysAllow) {
            return true;
        }
        let reads = self.reads.iter().filter_map(|read| Some((*user, read.consumer.as_ref()?, None)));
        let decided = self.decisions.iter().map(|Decided { account, attributes, decision }| {
            (account.as_ref().unwrap_or(user), attributes, Some(decision))
        });
        // Concurrently, for those authorizers that ask elsewhere.
        let checks = reads.chain(decided).map(async |(user, attributes, wanted)| {
            let decision = authorizer.decide(user, attributes).await;
            let is_fine = wanted.map_or(decision.allowed, |wanted| decision == *wanted);
            if is_fine { Ok(()) } else { Err(()) }
        });
        try_join_all(checks).await.is_ok()
    }

    /// Bytes that it takes, about.
    pub(super) fn weight(&self) -> usize {
        let decisions: usize =
            self.decisions.iter().map(|d| size_of::<Decided>() + 256 + d.decision.reason.len()).sum();
        size_of::<Basis>()
            + decisions
            + self.reads.iter().map(|read| size_of::<Read>() + 256 + read.what.weight()).sum::<usize>()
    }
}
