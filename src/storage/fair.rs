//! A bounded number of requests at work, shared fairly between flows. Who finds no room is told so at once.
//!
//! Absent: who is next (scheduler), what a refusal looks like to clients (throttle).
mod scheduler;

use std::{
    collections::HashMap,
    hash::{BuildHasher as _, RandomState},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    sync::oneshot,
    time::{Instant, timeout_at},
};

use self::scheduler::{Arrival, Scheduler, Ticket};

/// Seats and room to wait for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// How many work at once.
    pub seats: usize,
    /// How many of one flow may wait.
    pub queue_per_flow: usize,
    /// How many may wait.
    pub queue: usize,
    /// How long one waits at most.
    pub wait: Duration,
}

impl Default for Bounds {
    /// For creates. Most of a create's time is waiting for sources, so that a core can have many: 64 of 1 s each make it
    /// answer 64 a second. Two waves may wait; one flow may fill a quarter of that. Half the default deadline of a create
    /// is left for its work.
    fn default() -> Bounds {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let seats = (64 * cores).clamp(128, 1024);
        Bounds { seats, queue_per_flow: seats / 2, queue: 2 * seats, wait: Duration::from_secs(5) }
    }
}

/// Who shares a queue. A hash, random in each process, of who it is: two that collide share their seats, no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Flow(u64);

/// There is no room to wait, or the wait was too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many requests at work")]
pub struct OverloadedError;

/// Seats, shared by all who hold a clone.
#[derive(Clone, Debug)]
pub struct Fair(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    wait: Duration,
    hasher: RandomState,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    scheduler: Scheduler,
    /// Wakes who waits.
    wakers: HashMap<Ticket, oneshot::Sender<()>>,
}

/// A seat; dropping it gives it back.
#[derive(Debug)]
pub struct Seat {
    shared: Arc<Shared>,
    flow: Flow,
}

impl Fair {
    /// Nobody has a seat.
    pub fn new(bounds: Bounds) -> Fair {
        Fair(Arc::new(Shared {
            wait: bounds.wait,
            hasher: RandomState::new(),
            state: Mutex::new(State { scheduler: Scheduler::new(bounds), wakers: HashMap::new() }),
        }))
    }

    /// The flow of a user in a workspace.
    pub fn flow(&self, workspace: &str, user: &str) -> Flow {
        Flow(self.0.hasher.hash_one((workspace, user)))
    }

    /// A seat, now or never.
    ///
    /// # Errors
    /// There is none for this flow.
    pub fn try_seat(&self, flow: Flow) -> Result<Seat, OverloadedError> {
        let mut state = self.0.lock();
        match state.scheduler.arrive(flow) {
            Arrival::Seated => Ok(Seat { shared: Arc::clone(&self.0), flow }),
            Arrival::Queued(ticket) => {
                state.scheduler.cancel(flow, ticket);
                Err(OverloadedError)
            }
            Arrival::Refused => Err(OverloadedError),
        }
    }

    /// A seat, after waiting for it if there is room to. Who gives up (drops the future) leaves the queue.
    ///
    /// # Errors
    /// No room, or no seat by the deadline or within the bound on waiting.
    pub async fn seat(&self, flow: Flow, deadline: Instant) -> Result<Seat, OverloadedError> {
        let (wait, seated) = {
            let mut state = self.0.lock();
            match state.scheduler.arrive(flow) {
                Arrival::Seated => return Ok(Seat { shared: Arc::clone(&self.0), flow }),
                Arrival::Refused => return Err(OverloadedError),
                Arrival::Queued(ticket) => {
                    let (waker, seated) = oneshot::channel();
                    state.wakers.insert(ticket, waker);
                    (Wait { shared: Some(Arc::clone(&self.0)), flow, ticket }, seated)
                }
            }
        };
        match timeout_at(deadline.min(Instant::now() + self.0.wait), seated).await {
            Ok(Ok(())) => wait.seated().ok_or(OverloadedError),
            Ok(Err(_)) | Err(_) => Err(OverloadedError),
        }
    }
}

/// A place in the queue; dropping it leaves the queue, or gives back the seat that came too late.
struct Wait {
    /// `None` once the seat is the caller's.
    shared: Option<Arc<Shared>>,
    flow: Flow,
    ticket: Ticket,
}

impl Wait {
    fn seated(mut self) -> Option<Seat> {
        Some(Seat { shared: self.shared.take()?, flow: self.flow })
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        let Some(shared) = &self.shared else { return };
        let mut state = shared.lock();
        state.wakers.remove(&self.ticket);
        if !state.scheduler.cancel(self.flow, self.ticket) {
            state.scheduler.release(self.flow);
        }
        state.wake();
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.scheduler.release(self.flow);
        state.wake();
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        // The scheduler does not panic between two steps of one change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Seats who may sit. One that is gone gives its seat back by itself: its `Wait` is dropped after its receiver.
    fn wake(&mut self) {
        while let Some(ticket) = self.scheduler.next() {
            if let Some(waker) = self.wakers.remove(&ticket) {
                let _ = waker.send(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::{FutureExt as _, future::join_all};

    use super::*;

    const NOBODY: Flow = Flow(0);
    const SOMEBODY: Flow = Flow(1);

    fn fair(seats: usize, queue_per_flow: usize) -> Fair {
        Fair::new(Bounds { seats, queue_per_flow, queue: 100, wait: Duration::from_secs(5) })
    }

    fn later() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    #[tokio::test]
    async fn seats_go_to_who_waits() {
        let fair = fair(1, 1);
        let seat = fair.seat(NOBODY, later()).await.unwrap();
        let mut waiting = Box::pin(fair.seat(SOMEBODY, later()));
        assert!(waiting.as_mut().now_or_never().is_none());
        assert_eq!(fair.seat(SOMEBODY, later()).now_or_never().unwrap().unwrap_err(), OverloadedError);
        assert_eq!(fair.try_seat(NOBODY).unwrap_err(), OverloadedError);
        drop(seat);
        let seat = waiting.await.unwrap();
        assert!(fair.try_seat(NOBODY).is_err());
        drop(seat);
        assert!(fair.try_seat(NOBODY).is_ok());
    }

    #[tokio::test]
    async fn who_gives_up_leaves_no_trace() {
        let fair = fair(1, 10);
        let seat = fair.seat(NOBODY, later()).await.unwrap();
        let mut first = Box::pin(fair.seat(SOMEBODY, later()));
        let mut second = Box::pin(fair.seat(SOMEBODY, later()));
        let mut third = Box::pin(fair.seat(SOMEBODY, later()));
        for waiting in [&mut first, &mut second, &mut third] {
            assert!(waiting.as_mut().now_or_never().is_none());
        }
        // One gives up in the queue, one after it was given the seat that it does not know of.
        drop(second);
        drop(seat);
        drop(first);
        let seat = third.now_or_never().unwrap().unwrap();
        drop(seat);
        let state = fair.0.lock();
        assert!(state.wakers.is_empty());
        assert!(format!("{:?}", state.scheduler).contains("flows: {}"), "{:?}", state.scheduler);
    }

    #[tokio::test(start_paused = true)]
    async fn waits_are_bounded() {
        let fair = fair(1, 10);
        let _seat = fair.seat(NOBODY, later()).await.unwrap();
        let begun = Instant::now();
        assert!(fair.seat(SOMEBODY, later()).await.is_err());
        assert_eq!(begun.elapsed().as_secs(), 5);
        assert!(fair.seat(SOMEBODY, Instant::now() + Duration::from_secs(1)).await.is_err());
        assert_eq!(begun.elapsed().as_secs(), 6);
        assert!(fair.0.lock().wakers.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_greedy_flow_leaves_room() {
        let fair = fair(8, 1000);
        let work = async |flow, millis| {
            let _seat = fair.seat(flow, later()).await?;
            tokio::time::sleep(Duration::from_millis(millis)).await;
            Ok::<_, OverloadedError>(())
        };
        let greedy = join_all((0..100).map(|_| work(NOBODY, 1000)));
        let quiet = async {
            let begun = Instant::now();
            for _ in 0..100 {
                work(SOMEBODY, 1).await.unwrap();
            }
            begun.elapsed()
        };
        let (greedy, quiet) = tokio::join!(greedy, quiet);
        // 4 seats of 1 s each give 20 a wait of 5 s.
        assert!((20..=28).contains(&greedy.iter().filter(|done| done.is_ok()).count()));
        assert!(quiet < Duration::from_millis(250), "no wait, but timers of a millisecond: {quiet:?}");
    }

    #[test]
    fn flows_are_told_apart() {
        let fair = fair(1, 1);
        assert_eq!(fair.flow("root", "jane"), fair.flow("root", "jane"));
        assert_ne!(fair.flow("root", "jane"), fair.flow("root", "sam"));
        assert_ne!(fair.flow("root", "a"), fair.flow("roo", "ta"));
    }
}
