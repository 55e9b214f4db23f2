//! Answers that are reused: those of equal requests in flight, and those kept in memory for `cache.ttlSeconds`.
//!
//! | file | owns |
//! |---|---|
//! | `key` | what makes two requests equal: the values at exactly the inputs that the plan reads |
//! | `basis` | what an answer was made from, whether it is still so, and whether a user may read it |
//! | `entry` | an answer with its basis and its end |
//! | `flights` | who evaluates, and who waits for that |
//!
//! What is kept is an outcome, not an object: metadata and spec are each request's own. An outcome is kept if it follows
//! from key and basis alone, be it a status, failed validations, a missing object or an expression that fails: whoever asks
//! in a loop is mostly whoever gets a failure, and it ends, as an answer does, when what it was made from changes. Refusals
//! (they depend on who asks), sources that failed and deadlines (they depend on when) are not kept.
//!
//! INVARIANTS: an outcome is reused only for a user who may read now all that was read with the consumer's rights, and
//! only while all that was read is as it was; where expressions ask the authorizer, only for the same user, and only while it
//! says the same; an answer that depends on when or with which uid it is asked is never answered so.
//! Plans that change something are not shared either: there are none yet. Absent: evaluating (create), HTTP caching
//! (egress).
mod basis;
mod entry;
mod flights;
mod key;

use std::{sync::Arc, time::Duration};

use moka::{Expiry, sync::Cache};
use tokio::time::Instant;

use self::{
    basis::Reader,
    flights::{Flights, Joined, Landing},
};
pub(crate) use self::{
    basis::{Basis, Decided, Read, What},
    entry::{Entry, Made},
    flights::Lead,
    key::Key,
};
use crate::{api::UserInfo, storage::workspace::Workspace};

/// Bytes of one entry. Larger answers are rare, and would push out hundreds of others.
const MAX_ENTRY: usize = 1024 * 1024;

/// The answers of all workspaces.
#[derive(Debug)]
pub struct Answers {
    cache: Cache<Arc<Key>, Arc<Entry>>,
    flights: Arc<Flights>,
}

/// Who is to be answered with what is there.
pub(crate) enum Turn {
    /// It was kept.
    Hit(Arc<Entry>),
    /// Someone else has just evaluated it.
    Coalesced(Arc<Entry>),
    /// Evaluate, and tell the others.
    Lead(Lead),
    /// Evaluate alone: what is there is not for this user.
    Alone,
    /// The deadline passed while someone else evaluated.
    TimedOut,
}

impl Default for Answers {
    /// 64 MiB: some ten thousand answers of a few kilobytes.
    fn default() -> Answers {
        Answers::new(64 * 1024 * 1024)
    }
}

impl Answers {
    /// Answers that take this many bytes together.
    pub fn new(bytes: u64) -> Answers {
        let cache = Cache::builder()
            .max_capacity(bytes)
            .weigher(|_: &Arc<Key>, entry: &Arc<Entry>| entry.weight())
            .expire_after(AtItsEnd)
            .build();
        Answers { cache, flights: Arc::default() }
    }

    /// Looks for an answer, which may be kept for `ttl`, waits for one in flight, or says that the caller evaluates.
    pub(crate) async fn turn(
        &self,
        key: Key,
        ttl: Duration,
        workspace: &Workspace,
        user: &UserInfo,
        deadline: Instant,
    ) -> Turn {
        let reader = Reader { objects: workspace.objects(), authorizer: workspace.authorizer(), user };
        if !ttl.is_zero()
            && let Some(entry) = self.kept(&key, &reader)
        {
            return if entry.basis().is_for(&reader).await { Turn::Hit(entry) } else { Turn::Alone };
        }
        let key = Arc::new(key);
        let mut flights = 0_u32;
        loop {
            let flight = match self.flights.join(&key) {
                Joined::Lead(lead) => return Turn::Lead(lead),
                Joined::Follow(flight) => flight,
            };
            let landing = tokio::time::timeout_at(deadline, flight.landing()).await;
            // What the first flight read may be older than this request, and than what its sender has seen; later ones
            // began after it came.
            let first = flights == 0;
            flights += 1;
            match landing {
                Err(_) => return Turn::TimedOut,
                Ok(Landing::Crashed) => {}
                Ok(Landing::Private) => return Turn::Alone,
                Ok(Landing::Answer(entry)) if first && !entry.basis().holds(reader.objects) => {}
                Ok(Landing::Answer(entry)) if entry.basis().is_for(&reader).await => {
                    return Turn::Coalesced(entry);
                }
                Ok(Landing::Answer(_)) => return Turn::Alone,
            }
        }
    }

    /// Ends a flight: keeps the outcome if it may be kept, and hands it to those who wait if it may be shared.
    pub(crate) fn land(&self, mut lead: Lead, made: Made<'_>) {
        if made.ttl.is_zero() {
            // Only those who wait can have it.
            if let Some(followers) = lead.leave() {
                flights::tell(&followers, Entry::new(lead.key(), made).map(Arc::new));
            }
            return;
        }
        let entry = Entry::new(lead.key(), made).map(Arc::new);
        if let Some(entry) = &entry
            && entry.may_be_kept()
            && entry.weight() as usize <= MAX_ENTRY
        {
            self.cache.insert(Arc::clone(lead.key()), Arc::clone(entry));
        }
        // Only now, so that whoever comes finds the one or the other.
        if let Some(followers) = lead.leave() {
            flights::tell(&followers, entry);
        }
    }

    /// What is kept and still right.
    fn kept(&self, key: &Key, reader: &Reader<'_>) -> Option<Arc<Entry>> {
        let entry = self.cache.get(key)?;
        if entry.ends() > Instant::now() && entry.basis().holds(reader.objects) {
            return Some(entry);
        }
        self.cache.invalidate(key);
        None
    }
}

/// Frees memory; whether an entry may still be used is looked at when it is used.
#[derive(Debug)]
struct AtItsEnd;

impl Expiry<Arc<Key>, Arc<Entry>> for AtItsEnd {
    fn expire_after_create(&self, _: &Arc<Key>, entry: &Arc<Entry>, _: std::time::Instant) -> Option<Duration> {
        Some(entry.ends().saturating_duration_since(Instant::now()))
    }
}
