//! When a backend is left alone: a state machine over failures and time, nothing else.
//!
//! Absent: what counts as a failure (channel), clocks.
use std::time::Duration;

use tokio::time::Instant;

/// Counts the failures of one backend.
#[derive(Clone, Debug)]
pub(super) struct Breaker {
    failures: u32,
    open_for: Duration,
    state: State,
    /// Rises whenever it opens; what was admitted before counts no more.
    epoch: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// With failures in a row.
    Closed(u32),
    Open {
        until: Instant,
    },
    /// One request is out to try.
    HalfOpen,
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// The backend answered.
    Well,
    /// It did not, or with a status that says that it cannot.
    Badly,
    /// Nobody waited for the end.
    Unknown,
}

/// That a request may be sent; handed back with its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Admitted {
    epoch: u64,
    probe: bool,
}

impl Breaker {
    /// Opens after so many failures in a row, for so long.
    pub(super) fn new(failures: u32, open_for: Duration) -> Breaker {
        Breaker { failures, open_for, state: State::Closed(0), epoch: 0 }
    }

    /// Whether a request may be sent now; otherwise when to try again.
    pub(super) fn admit(&mut self, now: Instant) -> Result<Admitted, Duration> {
        match self.state {
            State::Closed(_) => Ok(Admitted { epoch: self.epoch, probe: false }),
            State::Open { until } if now < until => Err(until - now),
            State::Open { .. } => {
                self.state = State::HalfOpen;
                Ok(Admitted { epoch: self.epoch, probe: true })
            }
            // How long the probe takes is not known; a second is what clients wait at least.
            State::HalfOpen => Err(Duration::from_secs(1)),
        }
    }

    /// Takes note of how an admitted request ended.
    pub(super) fn settle(&mut self, admitted: Admitted, ending: Ending, now: Instant) {
        if admitted.epoch != self.epoch {
            return;
        }
        match (self.state, ending) {
            (State::HalfOpen, Ending::Well) if admitted.probe => self.state = State::Closed(0),
            (State::HalfOpen, Ending::Badly) if admitted.probe => self.open(now, self.open_for),
            // The next one may try at once.
            (State::HalfOpen, Ending::Unknown) if admitted.probe => self.open(now, Duration::ZERO),
            (State::Closed(_), Ending::Well) => self.state = State::Closed(0),
            (State::Closed(before), Ending::Badly) if before + 1 >= self.failures => self.open(now, self.open_for),
            (State::Closed(before), Ending::Badly) => self.state = State::Closed(before + 1),
            (State::Closed(_) | State::Open { .. } | State::HalfOpen, _) => {}
        }
    }

    /// Whether it holds nothing worth keeping.
    pub(super) fn is_idle(&self) -> bool {
        self.state == State::Closed(0)
    }

    fn open(&mut self, now: Instant, time: Duration) {
        self.state = State::Open { until: now + time };
        self.epoch += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Story {
        breaker: Breaker,
        now: Instant,
    }

    impl Story {
        fn ends(&mut self, ending: Ending) {
            let admitted = self.breaker.admit(self.now).unwrap();
            self.breaker.settle(admitted, ending, self.now);
        }

        #[track_caller]
        fn refuses(&mut self, seconds: u64) {
            assert_eq!(self.breaker.admit(self.now), Err(Duration::from_secs(seconds)));
        }

        fn wait(&mut self, seconds: u64) {
            self.now += Duration::from_secs(seconds);
        }
    }

    fn story() -> Story {
        Story { breaker: Breaker::new(3, Duration::from_secs(10)), now: Instant::now() }
    }

    #[tokio::test]
    async fn it_opens_after_failures_in_a_row_and_closes_after_a_probe() {
        let mut story = story();
        for ending in [Ending::Badly, Ending::Badly, Ending::Well, Ending::Badly, Ending::Unknown, Ending::Badly] {
            story.ends(ending);
        }
        story.ends(Ending::Badly);
        story.refuses(10);
        story.wait(4);
        story.refuses(6);
        story.wait(6);
        let probe = story.breaker.admit(story.now).unwrap();
        story.refuses(1);
        story.breaker.settle(probe, Ending::Badly, story.now);
        story.refuses(10);
        story.wait(10);
        story.ends(Ending::Well);
        story.ends(Ending::Badly);
        assert!(story.breaker.admit(story.now).is_ok() && !story.breaker.is_idle());
    }

    #[tokio::test]
    async fn a_probe_that_nobody_waits_for_makes_room_for_the_next() {
        let mut story = story();
        (0..3).for_each(|_| story.ends(Ending::Badly));
        story.wait(10);
        story.ends(Ending::Unknown);
        story.ends(Ending::Well);
        assert!(story.breaker.is_idle());
    }

    #[tokio::test]
    async fn what_was_sent_before_it_opened_counts_no_more() {
        let mut story = story();
        let late = story.breaker.admit(story.now).unwrap();
        (0..3).for_each(|_| story.ends(Ending::Badly));
        story.wait(10);
        let probe = story.breaker.admit(story.now).unwrap();
        story.breaker.settle(late, Ending::Well, story.now);
        story.refuses(1);
        story.breaker.settle(probe, Ending::Well, story.now);
        assert!(story.breaker.is_idle());
    }
}
