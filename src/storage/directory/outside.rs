//! What calls of a directory's schemas meet outside of it, as far as that is not the system's.
//!
//! Absent: calls (egress).
use std::{net::IpAddr, path::PathBuf, sync::Arc};

use crate::storage::{
    egress::{
        Surroundings,
        secrets::{FileSecrets, ObjectSecrets, Secrets},
        stand_in::StandIn,
    },
    workspace::Workspaces,
};

/// What is outside. The default is the system, with Secrets that are objects of the directory.
#[derive(Debug, Default)]
pub struct Outside {
    /// Answers instead of backends.
    pub stand_in: Option<Arc<dyn StandIn>>,
    /// The folder of credentials, instead of Secret objects: `<namespace>/<name>/<key>`.
    pub secrets: Option<PathBuf>,
    /// Addresses of this server besides those of its interfaces.
    pub own: Vec<IpAddr>,
    /// Bytes of HTTP answers that are kept, if not [`Surroundings::system`]'s.
    pub cache_bytes: Option<u64>,
}

impl Outside {
    pub(super) fn surroundings(self, workspaces: &Arc<Workspaces>) -> Surroundings {
        let Outside { stand_in, secrets, own, cache_bytes } = self;
        let secrets: Arc<dyn Secrets> = match secrets {
            Some(folder) => Arc::new(FileSecrets(folder)),
            None => Arc::new(ObjectSecrets(Arc::clone(workspaces))),
        };
        let system = Surroundings::system(secrets);
        Surroundings { stand_in, own, cache_bytes: cache_bytes.unwrap_or(system.cache_bytes), ..system }
    }
}
