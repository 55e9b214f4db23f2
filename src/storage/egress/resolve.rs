//! Names to addresses: our own step, so that what was judged is what is connected to.
//!
//! Absent: judgement of addresses (address), connections (dial).
use std::{collections::HashMap, fmt, io, net::IpAddr, sync::Mutex, sync::PoisonError};

use futures_util::{
    FutureExt,
    future::{BoxFuture, WeakShared},
};

/// Addresses of a name, or that there are none.
pub type Addresses = Option<std::sync::Arc<[IpAddr]>>;

/// Looks names up.
pub trait Resolve: fmt::Debug + Send + Sync {
    /// All addresses of a name in normal form, as they are; `None` when it has none or the look-up failed.
    fn resolve(&self, name: &str) -> BoxFuture<'static, Addresses>;
}

/// The system's resolver: it knows `/etc/hosts`, search domains and whatever else this machine is set up with.
///
/// A look-up that hangs keeps a thread of the system's pool; equal look-ups share one, so one dead name costs one thread.
#[derive(Default)]
pub struct SystemResolver {
    pending: Mutex<HashMap<String, WeakShared<BoxFuture<'static, Addresses>>>>,
}

impl fmt::Debug for SystemResolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SystemResolver")
    }
}

impl Resolve for SystemResolver {
    fn resolve(&self, name: &str) -> BoxFuture<'static, Addresses> {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = pending.get(name).and_then(WeakShared::upgrade) {
            return running.boxed();
        }
        pending.retain(|_, running| running.upgrade().is_some_and(|running| running.peek().is_none()));
        // A task of its own: the thread that looks up cannot be stopped, so the next caller had better wait for it too.
        let task = tokio::spawn(look_up(name.to_owned()));
        let running = async move { task.await.ok().and_then(Result::ok).filter(|found| !found.is_empty()) };
        let running = running.map(|found: Option<Vec<IpAddr>>| found.map(Into::into)).boxed().shared();
        if let Some(weak) = running.downgrade() {
            pending.insert(name.to_owned(), weak);
        }
        running.boxed()
    }
}

async fn look_up(name: String) -> io::Result<Vec<IpAddr>> {
    // The port is of no use here, but the system's interface wants one.
    let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
    let mut addresses: Vec<IpAddr> = found.map(|address| address.ip()).collect();
    addresses.dedup();
    Ok(addresses)
}
