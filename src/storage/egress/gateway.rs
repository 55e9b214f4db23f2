//! The one door to the outside: what all policies share, and the snapshots of policies that catalogs hold.
//!
//! Absent: what one policy does with a call (channel).
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::SystemTime,
};

use tokio::{sync::Semaphore, time::Instant};

use crate::{
    api::egress_policy::{Auth, EgressPolicySpec, SecretRef},
    storage::egress::{
        cache::HttpCache,
        call::{Asker, Call, Literal, Reply},
        channel::Channel,
        dial::{Dial, TcpDialer},
        error::EgressError,
        memory::Memory,
        own::OwnAddresses,
        policy::PolicyError,
        resolve::{Resolve, SystemResolver},
        secrets::Secrets,
        stand_in::StandIn,
    },
};

/// Tells the time by which answers age.
pub trait Clock: fmt::Debug + Send + Sync {
    /// Now.
    fn now(&self) -> SystemTime;
}

/// The system's time.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }
}

/// What all policies share.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// Looks names up.
    pub resolver: Arc<dyn Resolve>,
    /// Opens connections.
    pub dialer: Arc<dyn Dial>,
    /// Gives the bytes of credentials.
    pub secrets: Arc<dyn Secrets>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Addresses of this server besides those of its interfaces: load balancers before it.
    pub own: Vec<IpAddr>,
    /// Answers instead of backends, in tests.
    pub stand_in: Option<Arc<dyn StandIn>>,
    /// Bytes that cached answers may take together.
    pub cache_bytes: u64,
}

impl Surroundings {
    /// Those of a server.
    pub fn system(secrets: Arc<dyn Secrets>) -> Surroundings {
        Surroundings {
            resolver: Arc::new(SystemResolver::default()),
            dialer: Arc::new(TcpDialer),
            secrets,
            clock: Arc::new(SystemClock),
            own: vec![],
            stand_in: None,
            cache_bytes: 64 * 1024 * 1024,
        }
    }
}

/// The door. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Gateway {
    shared: Arc<Shared>,
    /// Policies by workspace and name, so that one that did not change keeps its connections, counts and cached answers.
    known: Arc<Mutex<HashMap<Name, Known>>>,
}

/// What all policies share at work.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) surroundings: Surroundings,
    pub(super) own: Arc<OwnAddresses>,
    pub(super) cache: HttpCache,
    pub(super) memory: Memory,
    /// Long bodies that are read at a time: one for each core, more are no faster.
    pub(super) readers: Arc<Semaphore>,
}

/// Workspace and name.
type Name = (Arc<str>, Arc<str>);

#[derive(Debug)]
struct Known {
    spec: EgressPolicySpec,
    channel: Weak<Channel>,
}

impl Gateway {
    /// A door with nothing known.
    pub fn new(surroundings: Surroundings) -> Gateway {
        let own = Arc::new(OwnAddresses::new(surroundings.own.clone()));
        let cache = HttpCache::new(surroundings.cache_bytes);
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let readers = Arc::new(Semaphore::new(cores));
        Gateway {
            shared: Arc::new(Shared { surroundings, own, cache, memory: Memory::default(), readers }),
            known: Arc::default(),
        }
    }

    /// The policies of a workspace as they are now, and what is wrong with which. A policy that is wrong refuses all calls:
    /// an older one that allowed more must not live on.
    pub fn egress<'a>(
        &self,
        workspace: &str,
        policies: impl IntoIterator<Item = (&'a str, &'a EgressPolicySpec)>,
    ) -> (Egress, Vec<(Arc<str>, PolicyError)>) {
        let workspace: Arc<str> = workspace.into();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut channels = BTreeMap::new();
        let mut errors = vec![];
        let mut secrets = BTreeSet::new();
        for (name, spec) in policies {
            let name: Arc<str> = name.into();
            secrets.extend(spec.auth.iter().flat_map(secrets_of).map(|of| (of.namespace.clone(), of.name.clone())));
            let key = (Arc::clone(&workspace), Arc::clone(&name));
            let unchanged =
                known.get(&key).filter(|known| known.spec == *spec).and_then(|known| known.channel.upgrade());
            let channel = match unchanged {
                Some(channel) => Some(channel),
                None => match Channel::new(&self.shared, &workspace, &name, spec) {
                    Ok(channel) => Some(Arc::new(channel)),
                    Err(found) => {
                        errors.extend(found.into_iter().map(|error| (Arc::clone(&name), error)));
                        None
                    }
                },
            };
            if let Some(channel) = &channel {
                known.insert(key, Known { spec: spec.clone(), channel: Arc::downgrade(channel) });
            }
            channels.insert(name, channel);
        }
        known.retain(|_, known| known.channel.strong_count() > 0);
        (Egress { channels: Arc::new(channels), workspace, secrets: Arc::new(secrets) }, errors)
    }
}

/// The Secrets of credentials; one, where they are right.
fn secrets_of(auth: &Auth) -> impl Iterator<Item = &SecretRef> {
    let Auth { bearer, basic, header, oauth2 } = auth;
    let bearer = bearer.as_ref().map(|of| &of.secret_ref);
    let basic = basic.as_ref().map(|of| &of.secret_ref);
    let header = header.as_ref().map(|of| &of.secret_ref);
    [bearer, basic, header, oauth2.as_ref().map(|of| &of.secret_ref)].into_iter().flatten()
}

/// The policies of one workspace at one time. Cheap to clone; the default has none, so that nothing leaves.
#[derive(Clone, Debug, Default)]
pub struct Egress {
    /// `None` where the policy is wrong.
    channels: Arc<BTreeMap<Arc<str>, Option<Arc<Channel>>>>,
    /// That of the policies.
    workspace: Arc<str>,
    /// Namespaces and names of the Secrets that policies name, wrong ones too.
    secrets: Arc<BTreeSet<(String, String)>>,
}

impl Egress {
    /// The same with a policy that cannot be read; it refuses all calls, and the Secrets that it names are guarded all the same.
    #[must_use]
    pub fn and_invalid(mut self, name: Arc<str>, secrets: impl IntoIterator<Item = (String, String)>) -> Egress {
        Arc::make_mut(&mut self.channels).insert(name, None);
        Arc::make_mut(&mut self.secrets).extend(secrets);
        self
    }

    /// Whether a Secret holds credentials of a policy: no expression may read it, with whosever rights.
    pub fn guards(&self, workspace: &str, namespace: &str, name: &str) -> bool {
        *self.workspace == *workspace && self.secrets.contains(&(namespace.to_owned(), name.to_owned()))
    }

    /// The names of the policies, for suggestions.
    pub fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.channels.keys()
    }

    /// Judges what is known of a call when its schema is compiled. Without a workspace that part is left for the call.
    pub fn check_literal(
        &self,
        policy: &str,
        schema: &str,
        workspace: Option<&str>,
        literal: &Literal<'_>,
    ) -> Result<(), EgressError> {
        let channel = self.channel(policy)?;
        channel.admit_asker(schema, workspace)?;
        channel.rules().admit_literal(literal)?.map_err(|part| EgressError::NotAllowed { policy: policy.into(), part })
    }

    /// Makes a call. Ends by the deadline, or before by the policy's own.
    pub async fn call(&self, call: &Call, deadline: Instant) -> Result<Reply, EgressError> {
        let channel = self.channel(&call.policy)?;
        let Asker { schema, workspace } = &call.asker;
        channel.admit_asker(schema, Some(workspace))?;
        channel.call(call, deadline).await
    }

    fn channel(&self, policy: &str) -> Result<&Arc<Channel>, EgressError> {
        match self.channels.get(policy) {
            Some(Some(channel)) => Ok(channel),
            Some(None) => Err(EgressError::InvalidPolicy { policy: policy.into() }),
            None => Err(EgressError::UnknownPolicy { policy: policy.into() }),
        }
    }
}
