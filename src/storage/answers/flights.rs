//! Equal requests in flight: one evaluates, the others wait for it. One who goes away without an answer (its client hung
//! up, its deadline was shorter) fails nobody: one of those who wait takes over.
//!
//! Absent: whether an answer is for whoever waits (answers).
use std::{
    collections::{HashMap, hash_map},
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::watch;

use super::{Entry, Key};

/// Evaluations under way.
#[derive(Debug, Default)]
pub(super) struct Flights(Mutex<HashMap<Arc<Key>, watch::Receiver<Option<Landing>>>>);

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
#[derive(Debug)]
pub(crate) struct Lead {
    flights: Arc<Flights>,
    key: Arc<Key>,
    landing: watch::Sender<Option<Landing>>,
}

impl Flights {
    /// Follows the flight of a key, or begins it.
    pub(super) fn join(self: &Arc<Flights>, key: &Arc<Key>) -> Joined {
        let mut flights = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match flights.entry(Arc::clone(key)) {
            hash_map::Entry::Occupied(flight) => Joined::Follow(Flight(flight.get().clone())),
            hash_map::Entry::Vacant(place) => {
                let (landing, flight) = watch::channel(None);
                place.insert(flight);
                Joined::Lead(Lead { flights: Arc::clone(self), key: Arc::clone(key), landing })
            }
        }
    }
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

    /// Ends with an outcome.
    pub(super) fn land(self, entry: Option<Arc<Entry>>) {
        // Whoever comes from now on finds what is kept, or begins a flight of its own.
        self.leave();
        self.landing.send_replace(Some(entry.map_or(Landing::Private, Landing::Answer)));
    }

    fn leave(&self) {
        let mut flights = self.flights.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = flights.get(&self.key).is_some_and(|flight| flight.same_channel(&self.landing.subscribe()));
        if own {
            flights.remove(&self.key);
        }
    }
}

impl Drop for Lead {
    fn drop(&mut self) {
        self.leave();
    }
}
