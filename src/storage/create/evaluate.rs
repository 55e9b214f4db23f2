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
        computing::{FEW, LITTLE_COST},
        failure,
        fair::OverloadedError,
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
    /// What the longest step took.
    longest: Duration,
    /// What was done here since others had their turn.
    turn: Duration,
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
            longest: Duration::ZERO,
            turn: Duration::ZERO,
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

    /// Ends as if the deadline had passed. What can be asked for without much work is, to name it; nobody answers.
    pub(super) fn time_out(mut self) -> Evaluated {
        self.evaluation.allow(LITTLE_COST);
        let _ = self.evaluation.next();
        let outcome = self.evaluation.time_out();
        self.ended(outcome)
    }

    pub(super) fn ended(self, outcome: Outcome) -> Evaluated {
        self.target.version.evaluation.took(self.longest, outcome.cost);
        Evaluated { outcome, refusals: self.refusals, basis: self.basis, sources: self.clock.sources() }
    }

    /// Does work on the evaluation at a place for what may take long.
    async fn apart<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> Result<T, OverloadedError> {
        let Run { shared, target, user, deadline, .. } = *self;
        shared.apart(target.workspace.path(), &user.username, deadline, || work(self)).await
    }

    /// Makes a step: here, where steps of this plan were quick lately; apart, where they were not or this one is not.
    async fn step(&mut self, step: fn(&mut Evaluation) -> Step) -> Result<Step, OverloadedError> {
        let pace = &self.target.version.evaluation;
        if let Some(allowed) = pace.allowed() {
            self.evaluation.allow(allowed);
            match self.timed(step) {
                Step::Unfinished => pace.overran(),
                made => return Ok(made),
            }
        }
        self.evaluation.allow(u64::MAX);
        self.apart(|run| run.timed(step)).await
    }

    fn timed(&mut self, step: fn(&mut Evaluation) -> Step) -> Step {
        let begun = Instant::now();
        let made = step(&mut self.evaluation);
        let took = begun.elapsed();
        self.longest = self.longest.max(took);
        self.turn += took;
        made
    }

    /// Hands the evaluation an answer.
    fn take(&mut self, id: NeedId, answer: reads::Answer) {
        self.clock.end(&self.evaluation, id, &answer);
        let supply = self.refusals.note(answer, &mut self.basis);
        self.evaluation.supply(id, supply);
    }

    /// Hands the evaluation what it asks for, all at once, until it is done or asks for nothing more. A step's time is bounded
    /// by the cost budgets of its expressions; between steps that took a while other requests get their turn.
    async fn drive(&mut self, step: fn(&mut Evaluation) -> Step) -> Result<Option<Outcome>, Status> {
        let mut pending = FuturesUnordered::new();
        loop {
            let Ok(made) = self.step(step).await else { return Ok(Some(self.evaluation.time_out())) };
            let many = match made {
                Step::Done(outcome) => return Ok(Some(outcome)),
                Step::Need(needs) => {
                    let many = needs.len() > FEW;
                    for (id, need) in needs {
                        self.clock.begin(&self.evaluation, id);
                        pending.push(reads::answer(self.target, self.user, self.deadline, id, need));
                    }
                    many
                }
                Step::Wait | Step::Unfinished => false,
            };
            if many {
                let taken = self.apart(|run| {
                    std::iter::from_fn(|| pending.next().now_or_never().flatten())
                        .map(|(id, answer)| run.take(id, answer))
                        .count()
                });
                match taken.await {
                    Err(_) => return Ok(Some(self.evaluation.time_out())),
                    Ok(0) => {}
                    Ok(_) => continue,
                }
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
            let begun = Instant::now();
            while let Some((id, answer)) = ready {
                // To select from and validate a body is work, which no expression pays for.
                let elsewhere = matches!(answer, reads::Answer::Elsewhere(_));
                if !elsewhere {
                    self.take(id, answer);
                } else if self.apart(|run| run.take(id, answer)).await.is_err() {
                    return Ok(Some(self.evaluation.time_out()));
                }
                ready = pending.next().now_or_never().flatten();
            }
            self.turn += begun.elapsed();
            if self.turn >= self.shared.turn {
                self.turn = Duration::ZERO;
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
