//! What a connection does at the moment, and when it has waited long enough: for a request, or for its client to take an answer.
//!
//! Absent: ending it (listen).
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{sync::Notify, time::Instant};

/// The requests of a connection.
#[derive(Debug, Default)]
pub(super) struct Activity {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    /// When those began whose answers are not taken yet.
    open: BTreeMap<u64, Instant>,
    /// Those of them that may take as long as they like.
    endless: usize,
}

/// How a connection is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It was idle: the peer is told.
    Gracefully,
    /// Its place is needed, or its client does not take what it asked for.
    Now,
}

impl Activity {
    /// Resolves when nothing was asked for during `idle`, or an answer was not taken within `exchange`, or `crowd` wakes it
    /// while it does nothing.
    pub(super) async fn end(&self, idle: Duration, exchange: Duration, crowd: Option<&Notify>) -> End {
        let mut since = Instant::now();
        loop {
            let (oldest, quiet) = {
                let state = self.state();
                (state.open.values().min().copied(), state.open.is_empty() && state.endless == 0)
            };
            let until = match oldest {
                Some(oldest) => oldest + exchange,
                None => since + idle,
            };
            tokio::select! {
                () = self.changed.notified() => since = Instant::now(),
                () = tokio::time::sleep_until(until), if oldest.is_some() || quiet => match oldest {
                    Some(_) => return End::Now,
                    None => return End::Gracefully,
                },
                () = notified(crowd), if quiet => {
                    let state = self.state();
                    if state.open.is_empty() && state.endless == 0 {
                        return End::Now;
                    }
                    // A request came at the same time: another makes room.
                    crowd.iter().for_each(|crowd| crowd.notify_one());
                }
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every change is whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn notified(crowd: Option<&Notify>) {
    match crowd {
        Some(crowd) => crowd.notified().await,
        None => std::future::pending().await,
    }
}

/// A request until its answer is taken.
#[derive(Debug)]
pub(super) struct Busy {
    activity: Arc<Activity>,
    id: u64,
}

impl Busy {
    pub(super) fn new(activity: Arc<Activity>) -> Busy {
        let id = {
            let mut state = activity.state();
            let id = state.next;
            state.next += 1;
            state.open.insert(id, Instant::now());
            id
        };
        activity.changed.notify_one();
        Busy { activity, id }
    }

    /// It may take as long as it likes.
    pub(super) fn endless(&self) {
        {
            let mut state = self.activity.state();
            if state.open.remove(&self.id).is_some() {
                state.endless += 1;
            }
        }
        self.activity.changed.notify_one();
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        {
            let mut state = self.activity.state();
            if state.open.remove(&self.id).is_none() {
                state.endless = state.endless.saturating_sub(1);
            }
        }
        self.activity.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: Duration = Duration::from_secs(90);
    const EXCHANGE: Duration = Duration::from_secs(60);

    /// How a connection ends, and after how many seconds. The clock goes on by itself when nothing else does.
    async fn ended(activity: &Activity, crowd: &Notify) -> (End, u64) {
        let begun = Instant::now();
        let end = activity.end(IDLE, EXCHANGE, Some(crowd)).await;
        (end, begun.elapsed().as_secs())
    }

    #[tokio::test(start_paused = true)]
    async fn connections_end_when_they_have_waited_long_enough() {
        let (activity, crowd) = (Arc::new(Activity::default()), Notify::new());
        assert_eq!(ended(&activity, &crowd).await, (End::Gracefully, 90), "nothing was asked");
        let busy = Busy::new(Arc::clone(&activity));
        assert_eq!(ended(&activity, &crowd).await, (End::Now, 60), "the answer is not taken");
        drop(busy);
        let watch = Busy::new(Arc::clone(&activity));
        watch.endless();
        crowd.notify_one();
        let day = Duration::from_secs(86_400);
        assert!(tokio::time::timeout(day, ended(&activity, &crowd)).await.is_err(), "a watch goes on");
        drop(watch);
        assert_eq!(ended(&activity, &crowd).await, (End::Now, 0), "its place is needed");
        assert_eq!(ended(&activity, &crowd).await, (End::Gracefully, 90), "one place was");
    }

    /// Requests that come and go beside it do not hide an answer that is not taken.
    #[tokio::test(start_paused = true)]
    async fn an_answer_that_is_not_taken_ends_busy_connections_too() {
        let (activity, crowd) = (Arc::new(Activity::default()), Notify::new());
        let _stalled = Busy::new(Arc::clone(&activity));
        let others = async {
            loop {
                drop(Busy::new(Arc::clone(&activity)));
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        };
        tokio::select! {
            () = others => {}
            end = ended(&activity, &crowd) => assert_eq!(end, (End::Now, 60)),
        }
    }
}
