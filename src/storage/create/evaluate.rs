//! Drives one evaluation: hands it what it asks for, and notes what that was.
//!
//! Absent: reading (reads), whether an answer is there already (resolve).
use std::{sync::Arc, time::Duration};

use futures_util::{FutureExt as _, StreamExt as _, stream::FuturesUnordered};
use tokio::time::{Instant, timeout_at};

use super::{Shared, SourceTime, Target, reads};
use crate::{
    api::{Status, StatusCause, UserInfo},
    engine::{
        evaluation::{Evaluation, Inputs, Step},
        need::NeedId,
        outcome::Outcome,
    },
    storage::{
        answers::Basis,
        failure,
        fair::{OverloadedError, Seat},
    },
};

/// An evaluation under way, and what it was handed.
pub(super) struct Run<'a> {
    shared: &'a Shared,
    target: &'a Target<'a>,
    user: &'a UserInfo,
    deadline: Instant,
    evaluation: Evaluation,
    refusals: reads::Refusals,
    basis: Basis,
    clock: Clock,
}

/// What an evaluation gave, and what it was made from.
pub(super) struct Evaluated {
    pub(super) outcome: Outcome,
    pub(super) refusals: reads::Refusals,
    pub(super) basis: Basis,
    pub(super) sources: Vec<SourceTime>,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        shared: &'a Shared,
        target: &'a Target<'a>,
        user: &'a UserInfo,
        inputs: Inputs,
        deadline: Instant,
    ) -> Run<'a> {
        Run {
            shared,
            target,
            user,
            deadline,
            basis: Basis::new(target.workspace.objects()),
            evaluation: target.version.plan.start(inputs),
            refusals: reads::Refusals::default(),
            clock: Clock::default(),
        }
    }

    /// Decides what depends on the request alone; the outcome, if that is the end.
    pub(super) async fn begin(&mut self) -> Result<Option<Outcome>, Status> {
        let outcome = self.drive(Evaluation::begin).await?;
        if outcome.is_none() && self.evaluation.is_early() { Err(stuck()) } else { Ok(outcome) }
    }

    /// Goes on to the end.
    pub(super) async fn finish(mut self) -> Result<Evaluated, Status> {
        let outcome = self.drive(Evaluation::next).await?.ok_or_else(stuck)?;
        Ok(self.ended(outcome))
    }

    /// Ends as if the deadline had passed. What can be asked for is, to name it; nobody answers.
    pub(super) fn time_out(mut self) -> Evaluated {
        let _ = self.evaluation.next();
        let outcome = self.evaluation.time_out();
        self.ended(outcome)
    }

    pub(super) fn ended(self, outcome: Outcome) -> Evaluated {
        Evaluated { outcome, refusals: self.refusals, basis: self.basis, sources: self.clock.sources() }
    }

    /// A place to compute at.
    async fn place(&self) -> Result<Option<Seat>, OverloadedError> {
        self.shared.compute(self.target.workspace.path(), &self.user.username, self.deadline).await
    }

    /// Hands the evaluation what it asks for, all at once, until it is done or asks for nothing more. A step's time is bounded
    /// by the cost budgets of its expressions; between steps that took a while other requests get their turn.
    async fn drive(&mut self, step: fn(&mut Evaluation) -> Step) -> Result<Option<Outcome>, Status> {
        let mut pending = FuturesUnordered::new();
        let mut turn = Duration::ZERO;
        loop {
            let computed = match self.place().await {
                Ok(_place) => {
                    let begun = Instant::now();
                    let computed = step(&mut self.evaluation);
                    turn += begun.elapsed();
                    computed
                }
                Err(_) => return Ok(Some(self.evaluation.time_out())),
            };
            match computed {
                Step::Done(outcome) => return Ok(Some(outcome)),
                Step::Need(needs) => {
                    for (id, need) in needs {
                        self.clock.begin(&self.evaluation, id);
                        pending.push(reads::answer(self.target, self.user, self.deadline, id, need));
                    }
                }
                Step::Wait => {}
            }
            // Most answers are there at once, and need no timer.
            let next = match pending.next().now_or_never() {
                Some(next) => next,
                None => match timeout_at(self.deadline, pending.next()).await {
                    Ok(next) => next,
                    Err(_) => return Ok(Some(self.evaluation.time_out())),
                },
            };
            let Some(first) = next else { return Ok(None) };
            let mut ready = Some(first);
            // To select from and validate a body is work, which no expression pays for.
            let elsewhere = ready.as_ref().is_some_and(|(_, answer)| matches!(answer, reads::Answer::Elsewhere(..)));
            let place = match elsewhere {
                true => match self.place().await {
                    Ok(place) => place,
                    Err(_) => return Ok(Some(self.evaluation.time_out())),
                },
                false => None,
            };
            let begun = Instant::now();
            while let Some((id, answer)) = ready {
                self.clock.end(&self.evaluation, id, &answer);
                self.evaluation.supply(id, self.refusals.note(answer, &mut self.basis));
                ready = pending.next().now_or_never().flatten();
            }
            drop(place);
            turn += begun.elapsed();
            if turn >= self.shared.turn {
                turn = Duration::ZERO;
                tokio::task::yield_now().await;
            }
        }
    }
}

/// A defect: it waits for nothing. Said, not hung.
fn stuck() -> Status {
    let cause = StatusCause { message: "the evaluation is stuck".into(), ..StatusCause::default() };
    failure::internal(cause, "the evaluation is stuck")
}

/// How long each source took, from its first question to its last answer.
#[derive(Default)]
struct Clock(Vec<(Instant, SourceTime)>);

impl Clock {
    fn begin(&mut self, evaluation: &Evaluation, id: NeedId) {
        let Some(source) = evaluation.source(id) else { return };
        // The questions of one source come one after the other.
        if self.0.last().is_none_or(|(_, last)| last.source != *source) {
            let time = SourceTime { source: Arc::clone(source), took: Duration::ZERO, cache: None };
            self.0.push((Instant::now(), time));
        }
    }

    fn end(&mut self, evaluation: &Evaluation, id: NeedId, answer: &reads::Answer) {
        let Some(source) = evaluation.source(id) else { return };
        if let Some((begun, time)) = self.0.iter_mut().find(|(_, time)| time.source == *source) {
            time.took = begun.elapsed();
            if let reads::Answer::Elsewhere(called) = answer {
                time.cache = time.cache.max(called.cache);
            }
        }
    }

    fn sources(self) -> Vec<SourceTime> {
        self.0.into_iter().map(|(_, time)| time).collect()
    }
}
