//! How many requests of a policy are sent: at a time, and in a time.
//!
//! A workspace has at most three quarters of both, and queues by itself: one that sends too much waits for itself, and others
//! find room. A policy that is for one workspace alone gives it all. Absent: fairness between users (create).
use std::{
    collections::HashMap,
    num::NonZeroU32,
    sync::{
        Arc, Mutex, PoisonError,
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

/// Requests of a workspace that wait for others of the same policy: more than the items of one `forEach`, whose calls come all
/// at once.
const MOST_WAITING: usize = 2_000;
/// Of all workspaces together.
const MOST_WAITING_OF_ALL: usize = 10_000;

/// The clock that tokio's tests can stop.
#[derive(Clone, Debug)]
struct TokioClock(Instant);

impl Clock for TokioClock {
    type Instant = Nanos;

    fn now(&self) -> Nanos {
        self.0.elapsed().into()
    }
}

type Limiter = RateLimiter<NotKeyed, InMemoryState, TokioClock, governor::middleware::NoOpMiddleware<Nanos>>;

/// Admits requests.
#[derive(Debug)]
pub(super) struct Throttle {
    all: Allowance,
    /// What one workspace has of it.
    share: Bounds,
    shares: Mutex<HashMap<Arc<str>, Arc<Share>>>,
    begun: Instant,
}

#[derive(Clone, Copy, Debug)]
struct Bounds {
    quota: Option<Quota>,
    in_flight: usize,
    waiting: usize,
}

/// What is left of some bounds.
#[derive(Debug)]
struct Allowance {
    rate: Option<Limiter>,
    in_flight: Arc<Semaphore>,
    waiting: AtomicUsize,
    most_waiting: usize,
}

#[derive(Debug)]
struct Share {
    left: Allowance,
    /// When it was last asked for.
    used: Mutex<Instant>,
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
    /// Of a policy's bounds; `sole` where one workspace alone may use it.
    pub(super) fn new(limits: &Limits, sole: bool) -> Throttle {
        let in_flight = limits.in_flight.clamp(1, Semaphore::MAX_PERMITS);
        let all = Bounds { quota: limits.rate.and_then(quota), in_flight, waiting: MOST_WAITING_OF_ALL };
        let share = if sole { all } else { share_of(&all, limits.rate) };
        let begun = Instant::now();
        Throttle { all: Allowance::new(&all, begun), share, shares: Mutex::default(), begun }
    }

    /// Admits a request of a workspace, when others have ended if need be.
    pub(super) async fn admit(&self, workspace: &Arc<str>, deadline: Instant) -> Result<InFlight, Throttled> {
        let share = self.share(workspace);
        let permit = self.wait(&share, deadline).await?;
        // The workspace's own first: what it is refused costs others nothing.
        for rate in [&share.left.rate, &self.all.rate].into_iter().flatten() {
            rate.check().map_err(|not_until| Throttled::Rate(not_until.wait_time_from(rate.clock().now())))?;
        }
        Ok(permit)
    }

    async fn wait(&self, share: &Share, deadline: Instant) -> Result<InFlight, Throttled> {
        let (of_workspace, of_all) = (&share.left.in_flight, &self.all.in_flight);
        let at_once = Arc::clone(of_workspace).try_acquire_owned().and_then(|of_workspace| {
            let of_all = Arc::clone(of_all).try_acquire_owned()?;
            Ok(InFlight { _of_all: of_all, _of_workspace: of_workspace })
        });
        if let Ok(permit) = at_once {
            return Ok(permit);
        }
        let _own = share.left.wait().ok_or(Throttled::InFlight)?;
        let _counted = self.all.wait().ok_or(Throttled::InFlight)?;
        let acquired = tokio::time::timeout_at(deadline, async {
            let of_workspace = Arc::clone(of_workspace).acquire_owned().await?;
            let of_all = Arc::clone(of_all).acquire_owned().await?;
            Ok::<_, tokio::sync::AcquireError>(InFlight { _of_all: of_all, _of_workspace: of_workspace })
        });
        // The semaphores are never closed.
        acquired.await.ok().and_then(Result::ok).ok_or(Throttled::InFlight)
    }

    fn share(&self, workspace: &Arc<str>) -> Arc<Share> {
        let now = Instant::now();
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = shares.get(workspace) {
            *share.used.lock().unwrap_or_else(PoisonError::into_inner) = now;
            return Arc::clone(share);
        }
        // One that nobody holds and whose rate is whole again is as a new one.
        let whole_after = self.share.quota.map_or(Duration::ZERO, |quota| quota.burst_size_replenished_in());
        shares.retain(|_, share| {
            let used = *share.used.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::strong_count(share) > 1 || now.saturating_duration_since(used) < whole_after
        });
        let share = Arc::new(Share { left: Allowance::new(&self.share, self.begun), used: Mutex::new(now) });
        shares.insert(Arc::clone(workspace), Arc::clone(&share));
        share
    }
}

/// Of a rate a second and a burst.
fn quota((rate, burst): (u32, u32)) -> Option<Quota> {
    Some(Quota::per_second(NonZeroU32::new(rate)?).allow_burst(NonZeroU32::new(burst)?))
}

/// Three quarters, and one at least.
fn share_of(all: &Bounds, rate: Option<(u32, u32)>) -> Bounds {
    let quota = rate.and_then(|(rate, burst)| {
        let each = Duration::from_secs(4).checked_div(rate.saturating_mul(3))?;
        Some(Quota::with_period(each)?.allow_burst(NonZeroU32::new(burst - burst / 4)?))
    });
    Bounds { quota, in_flight: all.in_flight - all.in_flight / 4, waiting: MOST_WAITING }
}

impl Allowance {
    fn new(bounds: &Bounds, begun: Instant) -> Allowance {
        Allowance {
            rate: bounds.quota.map(|quota| RateLimiter::direct_with_clock(quota, TokioClock(begun))),
            in_flight: Arc::new(Semaphore::new(bounds.in_flight)),
            waiting: AtomicUsize::new(0),
            most_waiting: bounds.waiting,
        }
    }

    fn wait(&self) -> Option<Waiting<'_>> {
        let room = |waiting: usize| (waiting < self.most_waiting).then_some(waiting + 1);
        let counted = self.waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, room);
        counted.ok().map(|_| Waiting(&self.waiting))
    }
}

/// Counts one that waits while it is held.
struct Waiting<'a>(&'a AtomicUsize);

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
        let (throttle, a) = (Throttle::new(&limits(Some((10, 2)), 100), true), "a".into());
        let deadline = Instant::now() + Duration::from_secs(5);
        assert!(throttle.admit(&a, deadline).await.is_ok() && throttle.admit(&a, deadline).await.is_ok());
        assert_eq!(throttle.admit(&a, deadline).await.unwrap_err(), Throttled::Rate(Duration::from_millis(100)));
        tokio::time::advance(Duration::from_millis(100)).await;
        assert!(throttle.admit(&a, deadline).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn requests_wait_for_others_until_the_deadline() {
        let (throttle, a) = (Throttle::new(&limits(None, 1), false), "a".into());
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
        assert_eq!(throttle.all.waiting.load(Ordering::Relaxed), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_greedy_workspace_leaves_room_for_others() {
        let throttle = Throttle::new(&limits(None, 4), false);
        let (greedy, modest): (Arc<str>, Arc<str>) = ("greedy".into(), "modest".into());
        let deadline = Instant::now() + Duration::from_secs(5);
        let held = futures_util::future::join_all((0..3).map(|_| throttle.admit(&greedy, deadline))).await;
        assert!(held.iter().all(Result::is_ok));
        let mut waiting = Box::pin(throttle.admit(&greedy, deadline));
        assert!(futures_util::poll!(&mut waiting).is_pending());
        assert!(futures_util::poll!(Box::pin(throttle.admit(&modest, deadline))).is_ready());
        drop(held);
        assert!(waiting.await.is_ok());
        assert_eq!(throttle.share(&modest).left.in_flight.available_permits(), 3);
        // Without a rate nothing is remembered of who is idle.
        throttle.share(&"new".into());
        assert_eq!(throttle.shares.lock().unwrap().len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_greedy_workspace_leaves_some_of_the_rate() {
        let throttle = Throttle::new(&limits(Some((8, 8)), 100), false);
        let (greedy, modest): (Arc<str>, Arc<str>) = ("greedy".into(), "modest".into());
        let mut admitted = (0, 0);
        for millis in 0..4000 {
            if throttle.admit(&greedy, Instant::now()).await.is_ok() {
                admitted.0 += 1;
            }
            if millis % 1000 == 0 {
                let found = throttle.admit(&modest, Instant::now()).await;
                assert!(found.is_ok(), "{found:?} after {millis} ms");
                admitted.1 += 1;
            }
            tokio::time::advance(Duration::from_millis(1)).await;
        }
        // A burst of 6, and 6 a second.
        assert!((28..=31).contains(&admitted.0) && admitted.1 == 4, "{admitted:?}");
        // To go away and come back gives nothing.
        while throttle.admit(&greedy, Instant::now()).await.is_ok() {}
        assert!(throttle.admit(&greedy, Instant::now()).await.is_err());
        tokio::time::advance(Duration::from_secs(10)).await;
        throttle.share(&"new".into());
        assert_eq!(throttle.shares.lock().unwrap().len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_waits_leaves_room_to_wait() {
        let throttle = Throttle::new(&limits(None, 1), false);
        let deadline = Instant::now() + Duration::from_secs(5);
        let held = throttle.admit(&"a".into(), deadline).await;
        let greedy: Arc<str> = "greedy".into();
        let mut waiting: Vec<_> = (0..=MOST_WAITING).map(|_| Box::pin(throttle.admit(&greedy, deadline))).collect();
        let last = waiting.pop();
        assert!(waiting.iter_mut().all(|waiting| futures_util::FutureExt::now_or_never(waiting).is_none()));
        assert_eq!(last.unwrap().await.unwrap_err(), Throttled::InFlight);
        assert!(futures_util::poll!(Box::pin(throttle.admit(&"modest".into(), deadline))).is_pending());
        drop(held);
    }
}
