//! How many requests of a policy are sent: at a time, and in a time.
//!
//! Absent: whose they are. Creates are queued fairly before their calls come here.
use std::{
    num::NonZeroU32,
    sync::{
        Arc,
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
    waiting: AtomicUsize,
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
        Throttle {
            rate: quota.map(|quota| RateLimiter::direct_with_clock(quota, TokioClock(Instant::now()))),
            in_flight: Arc::new(Semaphore::new(limits.in_flight.min(Semaphore::MAX_PERMITS))),
            waiting: AtomicUsize::new(0),
        }
    }

    /// Admits a request, when others have ended if need be. The request is unanswered until the permit is dropped.
    pub(super) async fn admit(&self, deadline: Instant) -> Result<OwnedSemaphorePermit, Throttled> {
        let permit = self.wait(deadline).await?;
        if let Some(rate) = &self.rate {
            rate.check().map_err(|not_until| Throttled::Rate(not_until.wait_time_from(rate.clock().now())))?;
        }
        Ok(permit)
    }

    async fn wait(&self, deadline: Instant) -> Result<OwnedSemaphorePermit, Throttled> {
        if let Ok(permit) = Arc::clone(&self.in_flight).try_acquire_owned() {
            return Ok(permit);
        }
        let _counted = Waiting::enter(&self.waiting).ok_or(Throttled::InFlight)?;
        let acquired = tokio::time::timeout_at(deadline, Arc::clone(&self.in_flight).acquire_owned()).await;
        // The semaphore is never closed.
        acquired.ok().and_then(Result::ok).ok_or(Throttled::InFlight)
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
        let throttle = Throttle::new(&limits(Some((10, 2)), 100));
        let deadline = Instant::now() + Duration::from_secs(5);
        assert!(throttle.admit(deadline).await.is_ok() && throttle.admit(deadline).await.is_ok());
        assert_eq!(throttle.admit(deadline).await.unwrap_err(), Throttled::Rate(Duration::from_millis(100)));
        tokio::time::advance(Duration::from_millis(100)).await;
        assert!(throttle.admit(deadline).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn requests_wait_for_others_until_the_deadline() {
        let throttle = Throttle::new(&limits(None, 1));
        let first = throttle.admit(Instant::now()).await.unwrap();
        let deadline = Instant::now() + Duration::from_secs(5);
        assert_eq!(throttle.admit(deadline).await.unwrap_err(), Throttled::InFlight);
        assert_eq!(Instant::now(), deadline);
        let end_first = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            drop(first);
        };
        let (second, ()) = tokio::join!(throttle.admit(deadline + Duration::from_secs(5)), end_first);
        assert!(second.is_ok());
        assert_eq!(throttle.waiting.load(Ordering::Relaxed), 0);
    }
}
