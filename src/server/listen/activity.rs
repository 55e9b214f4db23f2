//! What connections do at the moment, and when one has waited long enough: for a request, for its client to take an answer,
//! or longest of all when there are too many.
//!
//! A request costs a look at the clock here and no timer: a connection looks at itself when it may have waited long enough.
//! Absent: ending it (listen).
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{sync::Notify, time::Instant};

/// All connections.
#[derive(Debug, Default)]
pub(super) struct Crowd {
    next: AtomicU64,
    all: Mutex<BTreeMap<u64, Arc<Activity>>>,
    /// Room is needed, and none did nothing when it was looked for: the next one that does nothing makes it.
    wanted: AtomicBool,
}

/// A connection among all, until it is dropped.
#[derive(Debug)]
pub(super) struct Member {
    crowd: Arc<Crowd>,
    id: u64,
    activity: Arc<Activity>,
}

/// The requests of a connection.
#[derive(Debug)]
struct Activity {
    state: Mutex<State>,
    /// Its place is needed.
    leave: Notify,
}

#[derive(Debug)]
struct State {
    next: u64,
    /// When those began whose answers are not taken yet, the oldest first.
    open: Vec<(u64, Instant)>,
    /// Those of them that may take as long as they like.
    endless: usize,
    /// When it was last asked or had answered.
    since: Instant,
}

/// How a connection is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It was idle: the peer is told.
    Gracefully,
    /// Its place is needed, or its client does not take what it asked for.
    Now,
}

impl Crowd {
    /// A connection more.
    pub(super) fn join(self: &Arc<Crowd>) -> Member {
        let state = State { next: 0, open: Vec::new(), endless: 0, since: Instant::now() };
        let activity = Arc::new(Activity { state: Mutex::new(state), leave: Notify::new() });
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        lock(&self.all).insert(id, Arc::clone(&activity));
        // It does nothing yet.
        if self.wanted.swap(false, Ordering::Relaxed) {
            activity.leave.notify_one();
        }
        Member { crowd: Arc::clone(self), id, activity }
    }

    /// Ends the connection that has done nothing for the longest, or the next that does nothing.
    pub(super) fn make_room(&self) {
        let all = lock(&self.all);
        let idle = all.values().filter_map(|activity| Some((activity.quiet_since()?, activity)));
        match idle.min_by_key(|(since, _)| *since) {
            Some((_, activity)) => activity.leave.notify_one(),
            None => self.wanted.store(true, Ordering::Relaxed),
        }
    }
}

impl Member {
    /// A request begins.
    pub(super) fn busy(&self) -> Busy {
        let mut state = lock(&self.activity.state);
        let (id, now) = (state.next, Instant::now());
        state.next += 1;
        state.since = now;
        state.open.push((id, now));
        Busy { crowd: Arc::clone(&self.crowd), activity: Arc::clone(&self.activity), id }
    }

    /// Resolves when nothing was asked for during `idle`, or an answer was not taken within `exchange`, or room is needed while
    /// it does nothing.
    pub(super) async fn end(&self, idle: Duration, exchange: Duration) -> End {
        let begun = Instant::now();
        loop {
            let now = Instant::now();
            let until = {
                let state = lock(&self.activity.state);
                match state.open.first() {
                    Some((_, oldest)) if *oldest + exchange <= now => return End::Now,
                    Some((_, oldest)) => *oldest + exchange,
                    None if state.endless > 0 => now + idle,
                    None if state.since.max(begun) + idle <= now => return End::Gracefully,
                    None => state.since.max(begun) + idle,
                }
            };
            // What begins from now on cannot have waited long enough before that.
            let until = until.min(now + idle.min(exchange));
            tokio::select! {
                () = tokio::time::sleep_until(until) => {}
                () = self.activity.leave.notified() => match self.activity.quiet_since() {
                    Some(_) => return End::Now,
                    // A request came at the same time: another makes room.
                    None => self.crowd.make_room(),
                },
            }
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        lock(&self.crowd.all).remove(&self.id);
    }
}

impl Activity {
    /// Since when it does nothing, if it does nothing.
    fn quiet_since(&self) -> Option<Instant> {
        let state = lock(&self.state);
        (state.open.is_empty() && state.endless == 0).then_some(state.since)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every change is whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A request until its answer is taken.
#[derive(Debug)]
pub(super) struct Busy {
    crowd: Arc<Crowd>,
    activity: Arc<Activity>,
    id: u64,
}

impl Busy {
    /// It may take as long as it likes.
    pub(super) fn endless(&self) {
        let mut state = lock(&self.activity.state);
        if state.close(self.id) {
            state.endless += 1;
        }
    }
}

impl State {
    /// False if it was endless.
    fn close(&mut self, id: u64) -> bool {
        let at = self.open.iter().position(|(open, _)| *open == id);
        at.map(|at| self.open.remove(at)).is_some()
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let quiet = {
            let mut state = lock(&self.activity.state);
            if !state.close(self.id) {
                state.endless = state.endless.saturating_sub(1);
            }
            state.since = Instant::now();
            state.open.is_empty() && state.endless == 0
        };
        if quiet && self.crowd.wanted.load(Ordering::Relaxed) && self.crowd.wanted.swap(false, Ordering::Relaxed) {
            self.activity.leave.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: Duration = Duration::from_secs(90);
    const EXCHANGE: Duration = Duration::from_secs(60);

    /// How a connection ends, and after how many seconds. The clock goes on by itself when nothing else does.
    async fn ended(member: &Member) -> (End, u64) {
        let begun = Instant::now();
        let end = member.end(IDLE, EXCHANGE).await;
        (end, begun.elapsed().as_secs())
    }

    #[tokio::test(start_paused = true)]
    async fn connections_end_when_they_have_waited_long_enough() {
        let crowd = Arc::new(Crowd::default());
        let member = crowd.join();
        assert_eq!(ended(&member).await, (End::Gracefully, 90), "nothing was asked");
        let busy = member.busy();
        assert_eq!(ended(&member).await, (End::Now, 60), "the answer is not taken");
        drop(busy);
        let watch = member.busy();
        watch.endless();
        crowd.make_room();
        let day = Duration::from_secs(86_400);
        assert!(tokio::time::timeout(day, ended(&member)).await.is_err(), "a watch goes on");
        drop(watch);
        assert_eq!(ended(&member).await, (End::Now, 0), "its place is needed");
        assert_eq!(ended(&member).await, (End::Gracefully, 90), "one place was");
    }

    #[tokio::test(start_paused = true)]
    async fn each_waits_from_its_last_request() {
        let crowd = Arc::new(Crowd::default());
        let member = crowd.join();
        let asks = async |after: u64, takes: u64| {
            tokio::time::sleep(Duration::from_secs(after)).await;
            let busy = member.busy();
            tokio::time::sleep(Duration::from_secs(takes)).await;
            drop(busy);
        };
        let (end, ()) = tokio::join!(ended(&member), asks(70, 50));
        assert_eq!(end, (End::Gracefully, 70 + 50 + 90));
        let (end, ()) = tokio::join!(ended(&member), asks(80, 100));
        assert_eq!(end, (End::Now, 80 + 60));
    }

    #[tokio::test(start_paused = true)]
    async fn who_does_nothing_for_the_longest_makes_room() {
        let crowd = Arc::new(Crowd::default());
        let members = [crowd.join(), crowd.join(), crowd.join()];
        let second = Duration::from_secs(1);
        for index in [2, 0, 1] {
            tokio::time::sleep(second).await;
            drop(members[index].busy());
        }
        let _busy = members[2].busy();
        crowd.make_room();
        assert!(tokio::time::timeout(second, members[1].end(IDLE, EXCHANGE)).await.is_err());
        assert_eq!(ended(&members[0]).await, (End::Now, 0));
        drop(members);
        assert!(crowd.all.lock().unwrap().is_empty());
    }

    /// Requests that come and go beside it do not hide an answer that is not taken.
    #[tokio::test(start_paused = true)]
    async fn an_answer_that_is_not_taken_ends_busy_connections_too() {
        let member = Arc::new(Crowd::default()).join();
        let _stalled = member.busy();
        let others = async {
            loop {
                drop(member.busy());
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        };
        tokio::select! {
            () = others => {}
            end = ended(&member) => assert_eq!(end, (End::Now, 60)),
        }
    }
}
