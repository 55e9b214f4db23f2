//! The memory that answers take while creates work with them. Each body is bounded, and a create may ask for a thousand.
//!
//! A workspace has at most a quarter of it. Absent: bodies under way (a policy's `maxInFlight` times its `maxResponseBytes`),
//! kept answers (cache).
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// KiB of all answers in use: 256 MiB.
const ALL: u32 = 256 * 1024;
/// KiB of those of one workspace: two of the largest that a policy may allow, with 500,000 values each.
const OF_A_WORKSPACE: u32 = ALL / 4;

/// What is left.
#[derive(Debug)]
pub(super) struct Memory {
    all: Arc<Semaphore>,
    workspaces: Mutex<HashMap<Arc<str>, Weak<Semaphore>>>,
}

/// Holds memory for answers until it is dropped.
#[derive(Clone, Debug, Default)]
pub struct Held(Vec<Arc<[OwnedSemaphorePermit; 2]>>);

impl Held {
    /// Both.
    pub(super) fn and(mut self, more: Held) -> Held {
        self.0.extend(more.0);
        self
    }
}

impl Default for Memory {
    fn default() -> Memory {
        Memory { all: Arc::new(Semaphore::new(ALL as usize)), workspaces: Mutex::default() }
    }
}

impl Memory {
    /// Takes some for a workspace; `None` where it has no more.
    pub(super) fn take(&self, workspace: &Arc<str>, bytes: usize) -> Option<Held> {
        let kib = u32::try_from(bytes.div_ceil(1024)).unwrap_or(u32::MAX);
        let of_workspace = self.workspace(workspace).try_acquire_many_owned(kib).ok()?;
        let of_all = Arc::clone(&self.all).try_acquire_many_owned(kib).ok()?;
        Some(Held(vec![Arc::new([of_workspace, of_all])]))
    }

    fn workspace(&self, workspace: &Arc<str>) -> Arc<Semaphore> {
        let mut workspaces = self.workspaces.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(left) = workspaces.get(workspace).and_then(Weak::upgrade) {
            return left;
        }
        // Permits hold theirs, so that what nobody holds is whole.
        workspaces.retain(|_, left| left.strong_count() > 0);
        let left = Arc::new(Semaphore::new(OF_A_WORKSPACE as usize));
        workspaces.insert(Arc::clone(workspace), Arc::downgrade(&left));
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workspace_has_its_part_until_it_lets_go() {
        let memory = Memory::default();
        let (a, b): (Arc<str>, Arc<str>) = ("a".into(), "b".into());
        let part = OF_A_WORKSPACE as usize * 1024;
        let first = memory.take(&a, part / 2).unwrap();
        let held = memory.take(&a, part / 2).unwrap().and(first);
        assert!(memory.take(&a, 1).is_none() && memory.take(&b, part + 1).is_none());
        assert!(memory.take(&b, part).is_some());
        drop(held.clone());
        assert!(memory.take(&a, 1).is_none());
        drop(held);
        assert!(memory.take(&a, part).is_some());
        let others: Vec<_> = ["c", "d", "e", "f"].map(|name| memory.take(&name.into(), part)).into();
        assert!(others.iter().all(Option::is_some) && memory.take(&a, 1).is_none());
    }
}
