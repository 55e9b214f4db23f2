//! Drives one evaluation: hands it what it asks for, and notes what that was.
//!
//! Absent: reading (reads), whether an answer is there already (resolve).
use std::{sync::Arc, time::Duration};

use futures_util::{FutureExt as _, StreamExt as _, stream::FuturesUnordered};
use tokio::time::{Instant, timeout_at};

use super::{Target, reads};
use crate::{
    api::{Status, StatusCause, UserInfo},
    engine::{
        evaluation::{Evaluation, Inputs, Step},
        need::NeedId,
        outcome::Outcome,
    },
    storage::{answers::Basis, failure},
};

/// What an evaluation gave, and what it was made from.
pub(super) struct Evaluated {
    pub(super) outcome: Outcome,
    pub(super) refusals: reads::Refusals,
    pub(super) basis: Basis,
    pub(super) sources: Vec<(Arc<str>, Duration)>,
}

/// Hands the evaluation what it asks for, all at once, until it is done. A step's time is bounded by the cost budgets of its
/// expressions; between steps other requests get their turn.
pub(super) async fn evaluate(
    target: &Target<'_>,
    user: &UserInfo,
    inputs: Inputs,
    deadline: Instant,
) -> Result<Evaluated, Status> {
    let mut basis = Basis::new(target.workspace.objects());
    let mut evaluation = target.version.plan.start(inputs);
    let mut pending = FuturesUnordered::new();
    let mut refusals = reads::Refusals::default();
    let mut clock = Clock::default();
    let outcome = loop {
        match evaluation.next() {
            Step::Done(outcome) => break outcome,
            Step::Need(needs) => {
                for (id, need) in needs {
                    clock.begin(&evaluation, id);
                    pending.push(reads::answer(target, user, deadline, id, need));
                }
            }
            Step::Wait => {}
        }
        let Ok(next) = timeout_at(deadline, pending.next()).await else {
            break evaluation.time_out();
        };
        let Some(first) = next else {
            // A defect: it waits for nothing. Said, not hung.
            let cause = StatusCause { message: "the evaluation is stuck".into(), ..StatusCause::default() };
            return Err(failure::internal(cause, "the evaluation is stuck"));
        };
        let mut ready = Some(first);
        while let Some((id, answer)) = ready {
            clock.end(&evaluation, id);
            evaluation.supply(id, refusals.note(answer, &mut basis));
            ready = pending.next().now_or_never().flatten();
        }
        tokio::task::yield_now().await;
    };
    Ok(Evaluated { outcome, refusals, basis, sources: clock.sources() })
}

/// How long each source took, from its first question to its last answer.
#[derive(Default)]
struct Clock(Vec<(Arc<str>, Instant, Duration)>);

impl Clock {
    fn begin(&mut self, evaluation: &Evaluation, id: NeedId) {
        let Some(source) = evaluation.source(id) else { return };
        // The questions of one source come one after the other.
        if self.0.last().is_none_or(|(last, ..)| last != source) {
            self.0.push((Arc::clone(source), Instant::now(), Duration::ZERO));
        }
    }

    fn end(&mut self, evaluation: &Evaluation, id: NeedId) {
        let Some(source) = evaluation.source(id) else { return };
        if let Some((_, begun, taken)) = self.0.iter_mut().find(|(name, ..)| name == source) {
            *taken = begun.elapsed();
        }
    }

    fn sources(self) -> Vec<(Arc<str>, Duration)> {
        self.0.into_iter().map(|(source, _, taken)| (source, taken)).collect()
    }
}
