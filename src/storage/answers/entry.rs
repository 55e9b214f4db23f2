//! An outcome that others may be answered with.
//!
//! Absent: for whom and for how long it is right (basis, answers).
use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use cel::{Value, limits::COST_PER_EXPRESSION, value::Key as MapKey};
use tokio::time::Instant;

use super::{Basis, Key, MAX_ENTRY};
use crate::{
    engine::{
        limits::COST_PER_REQUEST,
        outcome::{Answer, Failure, Outcome},
        plan::Plan,
    },
    storage::objects::Objects,
};

/// An outcome, what it was made from, and until when it may be kept.
#[derive(Debug)]
pub(crate) struct Entry {
    outcome: Outcome,
    observed: jiff::Timestamp,
    basis: Basis,
    ends: Instant,
    weight: u32,
    /// They keep the addresses in the key from being used again.
    _alive: (Weak<Objects>, Weak<Plan>),
}

/// What an entry is made of.
pub(crate) struct Made<'a> {
    /// What was evaluated.
    pub(crate) plan: &'a Arc<Plan>,
    /// Over what.
    pub(crate) objects: &'a Arc<Objects>,
    /// What it gave.
    pub(crate) outcome: &'a Outcome,
    /// What it was handed.
    pub(crate) basis: Basis,
    /// When the request came.
    pub(crate) observed: jiff::Timestamp,
    /// For how long it may be kept.
    pub(crate) ttl: Duration,
}

impl Entry {
    /// An entry, if others may be answered with this outcome.
    pub(crate) fn new(key: &Key, made: Made<'_>) -> Option<Entry> {
        let Made { plan, objects, outcome, basis, observed, ttl } = made;
        if !basis.may_be_shared() || !may_be_shared(outcome) {
            return None;
        }
        let now = Instant::now();
        // A year, for instants end; no entry lives as long.
        let ends = now + ttl.min(Duration::from_secs(365 * 24 * 60 * 60));
        let ends = basis.ends().map_or(ends, |fresh| fresh.min(ends));
        let weight = key.weight() + basis.weight() + size_of::<Entry>() + outcome_weight(outcome);
        Some(Entry {
            outcome: outcome.clone(),
            observed,
            basis,
            ends,
            weight: u32::try_from(weight).unwrap_or(u32::MAX),
            _alive: (Arc::downgrade(objects), Arc::downgrade(plan)),
        })
    }

    /// What others are answered with.
    pub(crate) fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// When it was evaluated.
    pub(crate) fn observed(&self) -> jiff::Timestamp {
        self.observed
    }

    pub(super) fn basis(&self) -> &Basis {
        &self.basis
    }

    pub(super) fn ends(&self) -> Instant {
        self.ends
    }

    /// Bytes that it takes, about.
    pub(super) fn weight(&self) -> u32 {
        self.weight
    }

    /// Whether it is for later requests too, not only for those in flight: a backend that failed may be well again.
    pub(super) fn may_be_kept(&self) -> bool {
        !matches!(self.outcome.result, Err(Failure::Source { .. }))
    }
}

/// Whether an outcome follows from key and basis, and from neither who asked nor how long they wait.
fn may_be_shared(outcome: &Outcome) -> bool {
    // Close to the request's whole budget it may be what the early validations left of that, which are each request's own.
    if outcome.cost > COST_PER_REQUEST - COST_PER_EXPRESSION {
        return false;
    }
    match &outcome.result {
        Ok(_) => true,
        Err(Failure::Invalid(_) | Failure::Missing { .. } | Failure::Expression(_) | Failure::Source { .. }) => true,
        Err(Failure::Forbidden { .. } | Failure::Busy { .. } | Failure::Timeout { .. }) => false,
    }
}

fn outcome_weight(outcome: &Outcome) -> usize {
    match &outcome.result {
        Ok(Answer { status }) => status.as_ref().map_or(0, value_weight),
        Err(Failure::Invalid(errors)) => errors.iter().map(|error| 128 + error.field.len() + error.message.len()).sum(),
        Err(_) => 1024,
    }
}

/// Bytes of a value as if nothing were shared. Values can share parts so often that counting them all would take for ever:
/// past the largest entry it is enough.
fn value_weight(value: &Value) -> usize {
    let mut weight = 0;
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        weight += size_of::<Value>();
        match value {
            Value::String(text) => weight += text.len() + 16,
            Value::Bytes(bytes) => weight += bytes.len() + 16,
            Value::List(list) => {
                weight += 64;
                open.extend(list);
            }
            Value::Map(map) => {
                weight += 64;
                for (key, value) in map.iter() {
                    weight += 64 + if let MapKey::String(text) = key { text.len() } else { 0 };
                    open.push(value);
                }
            }
            Value::Optional(Some(inner)) => open.push(inner),
            Value::Opaque(_) => weight += 256,
            _ => {}
        }
        if weight > MAX_ENTRY {
            break;
        }
    }
    weight
}
