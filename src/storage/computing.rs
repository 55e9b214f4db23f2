//! Where work is done that keeps a processor: little of it on the thread that has the request, more of it apart.
//!
//! A runtime has a thread for each processor, which sockets need too. What may take longer than they can wait is done at one
//! of few places, shared fairly between users, while the runtime goes on with another thread.
//!
//! Absent: what the work is (create, server), who is next (fair).
use std::{
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
    time::Duration,
};

use tokio::{
    runtime::{Handle, RuntimeFlavor},
    time::Instant,
};

use super::{
    create::MAX_DEADLINE,
    fair::{Bounds, Fair, OverloadedError},
};

/// Cost that an evaluation may have on the thread of its request: a list of a hundred objects sorted and looked at in several
/// ways. It takes some microseconds, and of expressions made to take long a hundredth of a second at most.
pub const LITTLE_COST: u64 = 100_000;

/// Bytes of an answer that is written there: less than a tenth of a millisecond.
pub const LITTLE_BYTES: usize = 16 * 1024;

/// Bytes of an object that is admitted there: what schemas check may take the square of it.
pub const LITTLE_OBJECT: usize = 4 * 1024;

/// Questions of an evaluation that are answered there at once.
pub const FEW: usize = 32;

/// What is done in less is not worth a place: that alone takes a tenth of it.
const QUICK: Duration = Duration::from_micros(200);

/// Places to compute at.
#[derive(Debug)]
pub struct Places(Fair);

/// Places to compute at, so many that one flow alone has `cores` of them: one that keeps them all busy leaves as many as it
/// has itself less one, and whoever comes next has a place at once, and its part of the cores.
pub const fn places(cores: usize) -> usize {
    (2 * cores).saturating_sub(1)
}

impl Places {
    /// So many places. Those who wait are few: each has a seat, or is answered from what is there.
    pub fn new(places: usize) -> Places {
        Places(Fair::new(Bounds { seats: places, queue_per_flow: usize::MAX, queue: usize::MAX, wait: MAX_DEADLINE }))
    }

    /// Does work of a user of a workspace at a place.
    ///
    /// # Errors
    /// [`OverloadedError`]: the deadline passed before there was one.
    pub async fn apart<T>(
        &self,
        workspace: &str,
        user: &str,
        deadline: Instant,
        work: impl FnOnce() -> T,
    ) -> Result<T, OverloadedError> {
        let Places(places) = self;
        let _place = places.seat(places.flow(workspace, user), deadline).await?;
        Ok(match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
            Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
            // There is no other thread to go on.
            _ => work(),
        })
    }
}

/// What is done in more counts for several.
const LONG: Duration = Duration::from_millis(2);

/// What one kind of work took lately, to tell beforehand whether it takes long.
///
/// A leaky bucket: once in a while a thread loses its processor in the midst of quick work, which must not count. Who makes
/// quick and slow work in turns fills it.
#[derive(Debug)]
pub struct Pace {
    bucket: AtomicU32,
    /// What quick work cost at most, lately.
    cost: AtomicU64,
}

/// From here on work counts as slow: two that took long, or ten of a millisecond.
const SLOW: u32 = 16;

/// The most that is remembered.
const FULL: u32 = 128;

/// What may be allowed where nothing else is known to be needed.
const LEAST_ALLOWED: u64 = 1_000;

impl Default for Pace {
    /// Nothing is known: the first goes apart.
    fn default() -> Pace {
        Pace { bucket: AtomicU32::new(SLOW), cost: AtomicU64::new(0) }
    }
}

impl Pace {
    /// The cost to allow the next, if it was quick lately: twice what quick ones needed, for it may be another kind of them, and
    /// [`LITTLE_COST`] at most.
    pub fn allowed(&self) -> Option<u64> {
        let quick = self.bucket.load(Ordering::Relaxed) < SLOW;
        quick.then(|| LITTLE_COST.min(LEAST_ALLOWED + 2 * self.cost.load(Ordering::Relaxed)))
    }

    /// It took so long, and cost so much. Two at once may count as one: it is an estimate.
    pub fn took(&self, time: Duration, cost: u64) {
        let now = self.bucket.load(Ordering::Relaxed);
        let next = match time {
            time if time < QUICK => now.saturating_sub(1),
            time if time < LONG => FULL.min(now + 2),
            _ => FULL.min(now + SLOW / 2),
        };
        if next != now {
            self.bucket.store(next, Ordering::Relaxed);
        }
        let (known, cost) = (self.cost.load(Ordering::Relaxed), cost.min(LITTLE_COST));
        if time < QUICK && cost != known {
            // What was needed once is forgotten slowly.
            self.cost.store(cost.max(known - known.div_ceil(16)), Ordering::Relaxed);
        }
    }

    /// It was thought to be quick and was not.
    pub fn overran(&self) {
        self.bucket.store(FULL, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pace_is_learnt_and_a_single_slow_one_does_not_count() {
        let pace = Pace::default();
        assert_eq!(pace.allowed(), None, "nothing is known yet");
        pace.took(Duration::ZERO, 10);
        assert_eq!(pace.allowed(), Some(LEAST_ALLOWED + 20));
        for _ in 0..SLOW {
            pace.took(Duration::ZERO, 10);
        }
        pace.took(LONG, 10);
        assert!(pace.allowed().is_some(), "one");
        pace.took(LONG, 10);
        assert_eq!(pace.allowed(), None, "two in a row");
    }

    #[test]
    fn quick_ones_in_turns_with_long_ones_do_not_hide_them() {
        let pace = Pace::default();
        let mut apart = 0;
        for _ in 0..100 {
            for time in [Duration::ZERO, Duration::ZERO, LONG] {
                apart += usize::from(pace.allowed().is_none());
                pace.took(time, 10);
            }
        }
        assert!(apart > 280, "{apart}");
    }

    #[test]
    fn who_overran_must_be_quick_for_long() {
        let pace = Pace::default();
        pace.overran();
        let again = (1..).find(|_| {
            pace.took(Duration::ZERO, 0);
            pace.allowed().is_some()
        });
        assert_eq!(again, Some(FULL - SLOW + 1));
    }

    #[test]
    fn what_is_allowed_follows_what_is_needed() {
        let pace = Pace::default();
        for cost in [40_000, 10, 10] {
            pace.took(Duration::ZERO, cost);
        }
        assert!((60_000..80_000).contains(&pace.allowed().unwrap()));
        for _ in 0..400 {
            pace.took(Duration::ZERO, 10);
        }
        assert_eq!(pace.allowed(), Some(LEAST_ALLOWED + 20));
        pace.took(Duration::ZERO, u64::MAX);
        assert_eq!(pace.allowed(), Some(LITTLE_COST));
    }

    /// Other tasks go on, although each thread of the runtime has work of its own.
    #[test]
    fn work_apart_keeps_no_thread_of_the_runtime() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let places = Places::new(1);
        let (done, wait) = std::sync::mpsc::channel();
        let later = || Instant::now() + Duration::from_secs(600);
        let working = async move { places.apart("root", "jane", later(), move || wait.recv()).await };
        let working = runtime.spawn(working);
        let other = runtime.spawn(async move { done.send(7) });
        runtime.block_on(other).unwrap().unwrap();
        assert_eq!(runtime.block_on(working).unwrap(), Ok(Ok(7)));
    }

    #[tokio::test(start_paused = true)]
    async fn without_a_place_the_deadline_counts() {
        let places = Places::new(0);
        let begun = Instant::now();
        let worked = places.apart("root", "jane", begun + Duration::from_secs(7), || ()).await;
        assert_eq!((worked, begun.elapsed().as_secs()), (Err(OverloadedError), 7));
    }
}
