//! Where work is done that keeps a processor: little of it on the thread that has the request, more of it apart.
//!
//! A runtime has a thread for each processor, which sockets need too. What may take longer than they can wait is done at one
//! of few places, shared fairly between users, while the runtime goes on with another thread.
//!
//! Absent: what the work is (create, server), who is next (fair).
use std::{
    sync::atomic::{AtomicU32, Ordering},
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

/// Bytes of a body that is read there, and of an answer that is written there: less than a tenth of a millisecond.
pub const LITTLE_BYTES: usize = 16 * 1024;

/// What is done in less is not worth a place: that alone takes a tenth of it.
const QUICK: Duration = Duration::from_micros(200);

/// Places to compute at.
#[derive(Clone, Debug)]
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

/// How long one kind of work took lately, to tell beforehand whether it takes long.
///
/// A leaky bucket: once in a while a thread loses its processor in the midst of quick work, which must not count.
#[derive(Debug)]
pub struct Pace(AtomicU32);

/// From here on work counts as slow: twice in a row.
const SLOW: u32 = 2;

/// The most that is remembered. Who makes the same work quick and slow in turns is believed to be slow.
const SLOWEST: u32 = 64;

impl Default for Pace {
    /// Nothing is known: the first goes apart.
    fn default() -> Pace {
        Pace(AtomicU32::new(SLOW))
    }
}

impl Pace {
    /// Whether it was quick lately.
    pub fn is_quick(&self) -> bool {
        self.0.load(Ordering::Relaxed) < SLOW
    }

    /// Does work, and remembers what it took.
    pub fn timed<T>(&self, work: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let done = work();
        self.took(begun.elapsed());
        done
    }

    /// It took so long. Two at once may count as one: it is an estimate.
    pub fn took(&self, time: Duration) {
        let now = self.0.load(Ordering::Relaxed);
        let next = if time < QUICK { now.saturating_sub(1) } else { SLOWEST.min(now + 1) };
        if next != now {
            self.0.store(next, Ordering::Relaxed);
        }
    }

    /// It was thought to be quick and was not.
    pub fn overran(&self) {
        self.0.store(SLOWEST, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pace_is_learnt_and_a_single_slow_one_does_not_count() {
        let pace = Pace::default();
        assert!(!pace.is_quick(), "nothing is known yet");
        pace.took(Duration::ZERO);
        assert!(pace.is_quick());
        pace.took(Duration::ZERO);
        pace.took(QUICK);
        assert!(pace.is_quick(), "one");
        pace.took(QUICK);
        assert!(!pace.is_quick(), "two in a row");
    }

    #[test]
    fn who_overran_must_be_quick_for_long() {
        let pace = Pace::default();
        pace.overran();
        let again = (1..).find(|_| {
            pace.took(Duration::ZERO);
            pace.is_quick()
        });
        assert_eq!(again, Some(SLOWEST - SLOW + 1));
        for _ in 0..1_000 {
            pace.took(QUICK);
        }
        for _ in 0..SLOWEST {
            pace.took(Duration::ZERO);
        }
        assert!(pace.is_quick(), "what is remembered is bounded");
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
