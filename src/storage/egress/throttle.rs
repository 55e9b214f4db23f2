//! How many requests of a policy are sent: at a time, and in a time.
//!
//! A workspace has at most three quarters of what may be unanswered, and queues for it by itself: one that sends too much
//! waits for itself, and others find room. Absent: fairness between users (create).
use std::{
    collections::HashMap,
    num::NonZeroU32,
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use governor::{
    Quota, RateLimiter,
    clock::Clock,
    nanos::Nanos,
    state::{InMemoryState, direct::NotKeyed},
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Instant,
};

use crate::storage::egress::policy::Limits;

/// Requests that wait for others of the same policy: more than the items of one `forEach`, whose calls come all at once.
const MOST_WAITING: usize = 2_000;

/// The clock that tokio's tests can stop.
#[derive(Clone, Debug)]
struct TokioClock(Instant);

impl Clock for TokioClock {
    type Instant = Nanos;

    fn now(&self) -> Nanos {
        self.0.elapsed().into()
    }
}

/// Admits requests.
#[derive(Debug)]
pub(super) struct Throttle {
    rate: Option<RateLimiter<NotKeyed, InMemoryState, TokioClock, governor::middleware::NoOpMiddleware<Nanos>>>,
    in_flight: Arc<Semaphore>,
    /// What one workspace has of it.
    share: usize,
    shares: Mutex<HashMap<Arc<str>, Weak<Semaphore>>>,
    waiting: AtomicUsize,
}

/// That a request may be unanswered, until it is dropped.
#[derive(Debug)]
pub(super) struct InFlight {
    _of_all: OwnedSemaphorePermit,
    _of_workspace: OwnedSemaphorePermit,
}

/// Why a request is not admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Throttled {
    /// Too many in a time; when to try again.
    Rate(Duration),
    /// Too many at a time.
    InFlight,
}

impl Throttle {
    /// Of a policy's bounds.
    pub(super) fn new(limits: &Limits) -> Throttle {
        let quota = limits.rate.and_then(|(rate, burst)| {
            Some(Quota::per_second(NonZeroU32::new(rate)?).allow_burst(NonZeroU32::new(burst)?))
        });
        let in_flight = limits.in_flight.clamp(1, Semaphore::MAX_PERMITS);
        Throttle {
            rate: quota.map(|quota| RateLimiter::direct_with_clock(quota, TokioClock(Instant::now()))),
            in_flight: Arc::new(Semaphore::new(in_flight)),
            share: in_flight - in_flight / 4,
            shares: Mutex::default(),
            waiting: AtomicUsize::new(0),
        }
    }

    /// Admits a request of a workspace, when others have ended if need be.
    pub(super) async fn admit(&self, workspace: &Arc<str>, deadline: Instant) -> Result<InFlight, Throttled> {
        let permit = self.wait(workspace, deadline).await?;
        if let Some(rate) = &self.rate {
            rate.check().map_err(|not_until| Throttled::Rate(not_until.wait_time_from(rate.clock().now())))?;
        }
        Ok(permit)
    }

    async fn wait(&self, workspace: &Arc<str>, deadline: Instant) -> Result<InFlight, Throttled> {
        let share = self.share_of(workspace);
        let at_once = Arc::clone(&share).try_acquire_owned().and_then(|of_workspace| {
            let of_all = Arc::clone(&self.in_flight).try_acquire_owned()?;
            Ok(InFlight { _of_all: of_all, _of_workspace: of_workspace })
        });
        if let Ok(permit) = at_once {
            return Ok(permit);
        }
        let _counted = Waiting::enter(&self.waiting).ok_or(Throttled::InFlight)?;
        let acquired = tokio::time::timeout_at(deadline, async {
            let of_workspace = share.acquire_owned().await?;
            let of_all = Arc::clone(&self.in_flight).acquire_owned().await?;
            Ok::<_, tokio::sync::AcquireError>(InFlight { _of_all: of_all, _of_workspace: of_workspace })
        });
        // The semaphores are never closed.
        acquired.await.ok().and_then(Result::ok).ok_or(Throttled::InFlight)
    }

    fn share_of(&self, workspace: &Arc<str>) -> Arc<Semaphore> {
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = shares.get(workspace).and_then(Weak::upgrade) {
            return share;
        }
        // Permits and those who wait hold theirs, so there are no more than those.
        shares.retain(|_, share| share.strong_count() > 0);
        let share = Arc::new(Semaphore::new(self.share));
        shares.insert(Arc::clone(workspace), Arc::downgrade(&share));
        share
    }
}

/// Counts one that waits while it is held.
struct Waiting<'a>(&'a AtomicUsize);

impl Waiting<'_> {
    fn enter(count: &AtomicUsize) -> Option<Waiting<'_>> {
        let room = |waiting: usize| (waiting < MOST_WAITING).then_some(waiting + 1);
        count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, room).ok().map(|_| Waiting(count))
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(rate: Option<(u32, u32)>, in_flight: usize) -> Limits {
        Limits { timeout: Duration::from_secs(5), response_bytes: 1, rate, in_flight, attempts: 1, breaker: None }
    }

    #[tokio::test(start_paused = true)]
    async fn rates_refuse_and_say_until_when() {
        let (throttle, a) = (Throttle::new(&limits(Some((10, 2)), 100)), "a".into());
        let deadline = Instant::now() + Duration::from_secs(5);
        assert!(throttle.admit(&a, deadline).await.is_ok() && throttle.admit(&a, deadline).await.is_ok());
        assert_eq!(throttle.admit(&a, deadline).await.unwrap_err(), Throttled::Rate(Duration::from_millis(100)));
        tokio::time::advance(Duration::from_millis(100)).await;
        assert!(throttle.admit(&a, deadline).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn requests_wait_for_others_until_the_deadline() {
        let (throttle, a) = (Throttle::new(&limits(None, 1)), "a".into());
        let first = throttle.admit(&a, Instant::now()).await.unwrap();
        let deadline = Instant::now() + Duration::from_secs(5);
        assert_eq!(throttle.admit(&a, deadline).await.unwrap_err(), Throttled::InFlight);
        assert_eq!(Instant::now(), deadline);
        let end_first = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            drop(first);
        };
        let (second, ()) = tokio::join!(throttle.admit(&a, deadline + Duration::from_secs(5)), end_first);
        assert!(second.is_ok());
        assert_eq!(throttle.waiting.load(Ordering::Relaxed), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_greedy_workspace_leaves_room_for_others() {
        let throttle = Throttle::new(&limits(None, 4));
        let (greedy, modest): (Arc<str>, Arc<str>) = ("greedy".into(), "modest".into());
        let deadline = Instant::now() + Duration::from_secs(5);
        let held = futures_util::future::join_all((0..3).map(|_| throttle.admit(&greedy, deadline))).await;
        assert!(held.iter().all(Result::is_ok));
        let mut waiting = Box::pin(throttle.admit(&greedy, deadline));
        assert!(futures_util::poll!(&mut waiting).is_pending());
        assert!(futures_util::poll!(Box::pin(throttle.admit(&modest, deadline))).is_ready());
        drop(held);
        assert!(waiting.await.is_ok());
        assert!(throttle.share_of(&modest).available_permits() == 3 && throttle.shares.lock().unwrap().len() <= 2);
    }
}
