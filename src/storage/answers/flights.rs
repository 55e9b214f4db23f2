//! Equal requests in flight: one evaluates, the others wait for it. One who goes away without an answer (its client hung
//! up, its deadline was shorter) fails nobody: one of those who wait takes over.
//!
//! Absent: whether an answer is for whoever waits (answers).
use std::{
    collections::{HashMap, hash_map},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::watch;

use super::{Entry, Key};

/// Evaluations under way, each with those who wait for it, if anybody does: mostly nobody.
#[derive(Debug, Default)]
pub(super) struct Flights(Mutex<HashMap<Arc<Key>, Option<Followers>>>);

/// Where those who wait hear of the end; gone without a word where there was none.
pub(super) type Followers = watch::Sender<Option<Landing>>;

/// How a flight ended.
#[derive(Clone, Debug)]
pub(super) enum Landing {
    /// With an outcome that may be shared.
    Answer(Arc<Entry>),
    /// With one that may not.
    Private,
    /// Without any.
    Crashed,
}

/// What one who asks does.
pub(super) enum Joined {
    Lead(Lead),
    Follow(Flight),
}

/// Somebody else's evaluation.
pub(super) struct Flight(watch::Receiver<Option<Landing>>);

/// One's own evaluation. Dropping it without an outcome hands it to one of those who wait.
///
/// INVARIANT: until it has left, the flight of its key is its own: others follow that, and nobody else ends it.
#[derive(Debug)]
pub(crate) struct Lead {
    flights: Arc<Flights>,
    key: Arc<Key>,
    has_left: bool,
}

impl Flights {
    /// Follows the flight of a key, or begins it.
    pub(super) fn join(self: &Arc<Flights>, key: &Arc<Key>) -> Joined {
        match self.lock().entry(Arc::clone(key)) {
            hash_map::Entry::Occupied(mut flight) => {
                let followers = flight.get_mut().get_or_insert_with(|| watch::Sender::new(None));
                Joined::Follow(Flight(followers.subscribe()))
            }
            hash_map::Entry::Vacant(place) => {
                place.insert(None);
                Joined::Lead(Lead { flights: Arc::clone(self), key: Arc::clone(key), has_left: false })
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<Key>, Option<Followers>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells those who wait.
pub(super) fn tell(followers: &Followers, entry: Option<Arc<Entry>>) {
    followers.send_replace(Some(entry.map_or(Landing::Private, Landing::Answer)));
}

impl Flight {
    /// Waits for its end.
    pub(super) async fn landing(mut self) -> Landing {
        match self.0.wait_for(Option::is_some).await {
            Ok(landing) => landing.clone().unwrap_or(Landing::Crashed),
            Err(_) => Landing::Crashed,
        }
    }
}

impl Lead {
    pub(crate) fn key(&self) -> &Arc<Key> {
        &self.key
    }

    /// Ends; to those who wait, if anybody does, the caller says how. Whoever comes from now on finds what is kept, or begins a
    /// flight of its own.
    pub(super) fn leave(&mut self) -> Option<Followers> {
        let is_first = !std::mem::replace(&mut self.has_left, true);
        is_first.then(|| self.flights.lock().remove(&self.key)).flatten().flatten()
    }
}

impl Drop for Lead {
    fn drop(&mut self) {
        drop(self.leave());
    }
}
