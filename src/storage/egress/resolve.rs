//! Names to addresses: our own step, so that what was judged is what is connected to.
//!
//! Absent: judgement of addresses (address), connections (dial).
use std::{
    collections::HashMap,
    fmt, io,
    net::{IpAddr, ToSocketAddrs as _},
    sync::{Arc, Mutex, PoisonError},
};

use futures_util::{
    FutureExt,
    future::{BoxFuture, WeakShared},
};
use tokio::sync::Semaphore;

/// Addresses of a name, or that there are none.
pub type Addresses = Option<Arc<[IpAddr]>>;

/// Look-ups at a time. Each keeps a thread, of some 512 for all blocking work, for as long as the system takes: half a minute
/// with dead servers. Those that find no place wait without a thread.
const MOST_AT_ONCE: usize = 64;

/// Looks names up.
pub trait Resolve: fmt::Debug + Send + Sync {
    /// All addresses of a name in normal form, as they are; `None` when it has none or the look-up failed.
    fn resolve(&self, name: &str) -> BoxFuture<'static, Addresses>;
}

/// Asks the system, and takes as long as that takes.
type LookUp = dyn Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync;

/// The system's resolver: it knows `/etc/hosts`, search domains and whatever else this machine is set up with.
///
/// A look-up that hangs cannot be stopped. So equal ones share one, whoever asked for it or gave up, and there are at most
/// 64.
pub struct SystemResolver {
    look_up: Arc<LookUp>,
    places: Arc<Semaphore>,
    pending: Mutex<HashMap<String, WeakShared<BoxFuture<'static, Addresses>>>>,
}

impl Default for SystemResolver {
    fn default() -> SystemResolver {
        SystemResolver::with(Arc::new(look_up), MOST_AT_ONCE)
    }
}

impl SystemResolver {
    fn with(look_up: Arc<LookUp>, most_at_once: usize) -> SystemResolver {
        SystemResolver { look_up, places: Arc::new(Semaphore::new(most_at_once)), pending: Mutex::default() }
    }
}

impl fmt::Debug for SystemResolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SystemResolver")
    }
}

impl Resolve for SystemResolver {
    fn resolve(&self, name: &str) -> BoxFuture<'static, Addresses> {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = pending.get(name).and_then(WeakShared::upgrade)
            && running.peek().is_none()
        {
            return running.boxed();
        }
        pending.retain(|_, running| running.upgrade().is_some_and(|running| running.peek().is_none()));
        let (look_up, places, asked) = (Arc::clone(&self.look_up), Arc::clone(&self.places), name.to_owned());
        let running = async move {
            let place = places.acquire_owned().await.ok()?;
            let found = tokio::task::spawn_blocking(move || {
                let found = look_up(&asked);
                drop(place);
                found
            });
            let found = found.await.ok()?.ok().filter(|found| !found.is_empty())?;
            Some(Arc::from(found))
        };
        let running = running.boxed().shared();
        if let Some(weak) = running.downgrade() {
            pending.insert(name.to_owned(), weak);
        }
        // A task of its own: the next caller had better wait for the same look-up when this one gives up.
        tokio::spawn(running.clone());
        running.boxed()
    }
}

fn look_up(name: &str) -> io::Result<Vec<IpAddr>> {
    // The port is of no use here, but the system's interface wants one.
    let mut addresses: Vec<IpAddr> = (name, 0).to_socket_addrs()?.map(|address| address.ip()).collect();
    addresses.dedup();
    Ok(addresses)
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{
            atomic::{AtomicUsize, Ordering},
            mpsc,
        },
        time::Duration,
    };

    use super::*;

    #[tokio::test]
    async fn look_ups_that_hang_keep_few_threads_and_equal_ones_share_one() {
        let (begun, count) = mpsc::channel();
        let (release, wait) = mpsc::channel::<()>();
        let (wait, running) = (Mutex::new(wait), Arc::new(AtomicUsize::new(0)));
        let at_work = Arc::clone(&running);
        let hanging = move |name: &str| {
            begun.send(name.to_owned()).unwrap();
            at_work.fetch_add(1, Ordering::Relaxed);
            // Ends when the test lets go.
            let _ = wait.lock().unwrap().recv();
            Ok(vec![IpAddr::from([192, 0, 2, 1])])
        };
        let resolver = SystemResolver::with(Arc::new(hanging), 2);
        let soon = Duration::from_millis(20);
        for name in ["a", "a", "b", "a", "b", "c", "d", "c"] {
            assert!(tokio::time::timeout(soon, resolver.resolve(name)).await.is_err(), "{name}");
        }
        let mut names = vec![count.recv().unwrap(), count.recv().unwrap()];
        names.sort();
        assert_eq!(names, ["a", "b"]);
        assert!(count.try_recv().is_err() && running.load(Ordering::Relaxed) == 2);
        assert_eq!(resolver.pending.lock().unwrap().len(), 4);
        drop(release);
        for name in ["a", "b", "c", "d"] {
            assert!(resolver.resolve(name).await.is_some(), "{name}");
        }
    }
}
