//! The outcome of a request: one that is there already, or an evaluation of its own.
//!
//! Absent: which outcomes may be reused (answers), evaluating (evaluate).
use std::{sync::Arc, time::Duration};

use tokio::time::Instant;

use super::{
    CreateRequest, Shared, Target,
    evaluate::{Evaluated, Run},
    reads,
};
use crate::{
    api::Status,
    engine::{
        evaluation::Inputs,
        outcome::{Failure, Outcome},
    },
    storage::{
        answers::{Answers, Entry, Key, Lead, Made, Turn},
        egress,
    },
};

/// Where an answer came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheUse {
    /// It was kept.
    Hit,
    /// It was evaluated.
    Miss,
    /// An equal request in flight evaluated it.
    Coalesced,
    /// It was evaluated, and no other request can have the same.
    Bypass,
}

/// What a create took.
#[derive(Clone, Debug)]
pub struct Timing {
    /// Where its answer came from.
    pub cache: CacheUse,
    /// How long it waited for its turn.
    pub queued: Duration,
    /// How long each source took; none where the answer was there.
    pub sources: Vec<SourceTime>,
}

/// What a source took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceTime {
    /// Its id.
    pub source: Arc<str>,
    /// From its first question to its last answer.
    pub took: Duration,
    /// Where the answers of an HTTP source came from, the costliest of them; `None` for objects, and where there was none.
    pub cache: Option<egress::CacheUse>,
}

/// An outcome, and what belongs to it.
pub(super) struct Resolved {
    pub(super) outcome: Outcome,
    pub(super) refusals: reads::Refusals,
    /// When it was evaluated.
    pub(super) observed: jiff::Timestamp,
    pub(super) cache: CacheUse,
    pub(super) sources: Vec<SourceTime>,
}

/// Finds or makes the outcome.
pub(super) async fn resolve(
    shared: &Shared,
    target: &Target<'_>,
    request: &CreateRequest<'_>,
    inputs: Inputs,
    deadline: Instant,
) -> Result<Resolved, Status> {
    let objects = target.workspace.objects();
    let key = shared.answers.as_ref().and_then(|answers| {
        Some((answers, Key::new(objects, target.catalog, &target.version.plan, request.user, &inputs)?))
    });
    let start = |inputs| Run::new(shared, target, request.user, inputs, deadline);
    if !target.version.plan.validates_early() {
        return reuse(key, target, request, deadline, || start(inputs)).await;
    }
    // What depends on the request alone is decided for each.
    let mut run = start(inputs);
    match run.begin().await? {
        Some(outcome) => Ok(own(run.ended(outcome).into(), request, CacheUse::Bypass)),
        None => reuse(key, target, request, deadline, || run).await,
    }
}

/// Finds the outcome of a key, or makes it: `run` is only begun where it is needed.
async fn reuse<'a>(
    key: Option<(&Answers, Key)>,
    target: &Target<'_>,
    request: &CreateRequest<'_>,
    deadline: Instant,
    run: impl FnOnce() -> Run<'a>,
) -> Result<Resolved, Status> {
    let Some((answers, key)) = key else {
        return Ok(own(run().finish().await?.into(), request, CacheUse::Bypass));
    };
    match answers.turn(key, target.version.cache, target.workspace, request.user, deadline).await {
        Turn::Hit(entry) => Ok(others(&entry, CacheUse::Hit)),
        Turn::Coalesced(entry) => Ok(others(&entry, CacheUse::Coalesced)),
        Turn::Lead(lead) => {
            let evaluated = run().finish().await?;
            Ok(own(land(answers, lead, target, request, evaluated), request, CacheUse::Miss))
        }
        Turn::Alone => Ok(own(run().finish().await?.into(), request, CacheUse::Miss)),
        Turn::TimedOut => Ok(own(run().time_out().into(), request, CacheUse::Coalesced)),
    }
}

/// What of an evaluation is the request's own.
struct Own {
    outcome: Outcome,
    refusals: reads::Refusals,
    sources: Vec<SourceTime>,
}

impl From<Evaluated> for Own {
    fn from(evaluated: Evaluated) -> Own {
        let Evaluated { outcome, refusals, sources, .. } = evaluated;
        Own { outcome, refusals, sources }
    }
}

/// Tells the others. A deadline was this request's own: one of those who wait goes on in its place.
fn land(answers: &Answers, lead: Lead, target: &Target<'_>, request: &CreateRequest<'_>, evaluated: Evaluated) -> Own {
    let Evaluated { outcome, refusals, basis, sources } = evaluated;
    if matches!(outcome.result, Err(Failure::Timeout { .. })) {
        drop(lead);
    } else {
        let made = Made {
            plan: &target.version.plan,
            objects: target.workspace.objects(),
            outcome: &outcome,
            basis,
            observed: request.moment.time,
            ttl: target.version.cache,
        };
        answers.land(lead, made);
    }
    Own { outcome, refusals, sources }
}

fn own(own: Own, request: &CreateRequest<'_>, cache: CacheUse) -> Resolved {
    let Own { outcome, refusals, sources } = own;
    Resolved { outcome, refusals, observed: request.moment.time, cache, sources }
}

fn others(entry: &Entry, cache: CacheUse) -> Resolved {
    Resolved {
        outcome: entry.outcome().clone(),
        refusals: reads::Refusals::default(),
        observed: entry.observed(),
        cache,
        sources: vec![],
    }
}
