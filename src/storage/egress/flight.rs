//! Equal requests in flight share one: whoever is first starts it, everybody drives it, it ends when nobody waits any more.
//! A first one that is cancelled takes nothing from the others.
//!
//! Absent: what is shared (handed in).
use std::{
    collections::HashMap,
    fmt,
    hash::Hash,
    sync::{Mutex, PoisonError},
};

use futures_util::{
    FutureExt,
    future::{BoxFuture, Shared, WeakShared},
};

/// Requests in flight by key.
pub(super) struct Flights<K, T: Clone>(Mutex<HashMap<K, WeakShared<BoxFuture<'static, T>>>>);

impl<K, T: Clone> Default for Flights<K, T> {
    fn default() -> Self {
        Flights(Mutex::default())
    }
}

impl<K, T: Clone> fmt::Debug for Flights<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Flights")
    }
}

impl<K: Eq + Hash, T: Clone> Flights<K, T> {
    /// The flight of a key, and whether it was started for this.
    pub(super) fn join(
        &self,
        key: K,
        start: impl FnOnce() -> BoxFuture<'static, T>,
    ) -> (Shared<BoxFuture<'static, T>>, bool) {
        let mut flights = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let landed = |flight: &Shared<BoxFuture<'static, T>>| flight.peek().is_some();
        if let Some(flight) = flights.get(&key).and_then(WeakShared::upgrade).filter(|flight| !landed(flight)) {
            return (flight, false);
        }
        // Few are in flight at a time (the throttle sees to that), so looking through all of them is cheap.
        flights.retain(|_, weak| weak.upgrade().is_some_and(|flight| !landed(&flight)));
        let flight = start().shared();
        if let Some(weak) = flight.downgrade() {
            flights.insert(key, weak);
        }
        (flight, true)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
        time::Duration,
    };

    use super::*;

    fn slow(count: &Arc<AtomicUsize>) -> BoxFuture<'static, usize> {
        let count = Arc::clone(count);
        async move {
            let n = count.fetch_add(1, Ordering::Relaxed) + 1;
            tokio::time::sleep(Duration::from_secs(1)).await;
            n
        }
        .boxed()
    }

    #[tokio::test(start_paused = true)]
    async fn equal_requests_share_one_and_survive_its_first() {
        let (flights, count) = (Arc::new(Flights::default()), Arc::new(AtomicUsize::new(0)));
        let (leader, started) = flights.join(1, || slow(&count));
        assert!(started);
        let leader = tokio::spawn(leader);
        tokio::time::sleep(Duration::from_millis(500)).await;
        let (follower, started) = flights.join(1, || slow(&count));
        assert!(!started);
        let follower = tokio::spawn(follower);
        tokio::time::sleep(Duration::from_millis(100)).await;
        leader.abort();
        assert_eq!(follower.await.unwrap(), 1);
        let (next, started) = flights.join(1, || slow(&count));
        assert!(started);
        assert_eq!(next.await, 2);
    }

    #[tokio::test(start_paused = true)]
    async fn it_ends_when_nobody_waits() {
        let (flights, count) = (Flights::default(), Arc::new(AtomicUsize::new(0)));
        drop(flights.join(1, || slow(&count)));
        let (next, started) = flights.join(1, || slow(&count));
        assert!(started);
        assert_eq!(next.await, 1);
    }
}
