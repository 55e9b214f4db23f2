//! Stand-ins for what egress meets outside: names, sockets, Secrets, time.
//!
//! Absent: what is shown with them.
use std::{
    collections::{HashMap, VecDeque},
    io,
    net::{IpAddr, SocketAddr},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

use celandine::{
    api::{EgressPolicySpec, egress_policy::SecretRef, ephemeral_schema::Method},
    storage::egress::{
        Asker, Call, Egress, EgressError, Format, Gateway, Reply, Surroundings,
        dial::{Dial, Stream},
        error::CredentialsFault,
        gateway::Clock,
        resolve::{Addresses, Resolve},
        secrets::Secrets,
        sensitive::Sensitive,
    },
};
use futures_util::{FutureExt, future::BoxFuture};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Answers of names, one set for each look-up; the last set stays.
#[derive(Debug, Default)]
pub(crate) struct Names(Mutex<HashMap<String, VecDeque<Vec<IpAddr>>>>);

impl Names {
    pub(crate) fn set(&self, name: &str, answers: Vec<Vec<IpAddr>>) {
        self.0.lock().unwrap().insert(name.to_owned(), answers.into());
    }
}

impl Resolve for Names {
    fn resolve(&self, name: &str) -> BoxFuture<'static, Addresses> {
        let mut names = self.0.lock().unwrap();
        let answers = names.get_mut(name);
        let answer = answers.and_then(|answers| match answers.len() {
            0 | 1 => answers.front().cloned(),
            _ => answers.pop_front(),
        });
        std::future::ready(answer.filter(|answer| !answer.is_empty()).map(Into::into)).boxed()
    }
}

/// Stands where sockets are opened: keeps what was asked for, and answers every request with one text from memory.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    pub(crate) dialled: Mutex<Vec<SocketAddr>>,
    pub(crate) answer: Mutex<String>,
}

impl Dial for Recorder {
    fn dial(&self, address: SocketAddr) -> BoxFuture<'static, io::Result<Box<dyn Stream>>> {
        self.dialled.lock().unwrap().push(address);
        let answer = self.answer.lock().unwrap().clone();
        let (ours, mut theirs) = tokio::io::duplex(64 * 1024);
        tokio::spawn(async move {
            let mut request = [0; 16 * 1024];
            let _ = theirs.read(&mut request).await;
            let _ = theirs.write_all(answer.as_bytes()).await;
        });
        std::future::ready(Ok(Box::new(ours) as Box<dyn Stream>)).boxed()
    }
}

/// Secrets by key.
#[derive(Default)]
pub(crate) struct Keys(pub(crate) Mutex<HashMap<String, String>>);

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keys")
    }
}

impl Secrets for Keys {
    fn secret(
        &self,
        _: &str,
        reference: &SecretRef,
    ) -> BoxFuture<'static, Result<Sensitive<Vec<u8>>, CredentialsFault>> {
        let found = self.0.lock().unwrap().get(&reference.key).cloned();
        let found = found.map(|text| Sensitive::new(text.into_bytes())).ok_or(CredentialsFault::Missing);
        std::future::ready(found).boxed()
    }
}

/// Time that passes when the test says so.
#[derive(Debug, Default)]
pub(crate) struct Hands(AtomicU64);

impl Hands {
    pub(crate) fn advance(&self, seconds: u64) {
        self.0.fetch_add(seconds, Ordering::Relaxed);
    }
}

impl Clock for Hands {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_900_000_000 + self.0.load(Ordering::Relaxed))
    }
}

/// All stand-ins, and the door they stand around.
pub(crate) struct World {
    pub(crate) names: Arc<Names>,
    pub(crate) keys: Arc<Keys>,
    pub(crate) clock: Arc<Hands>,
    pub(crate) gateway: Gateway,
}

impl World {
    pub(crate) fn new(dialer: Arc<dyn Dial>) -> World {
        World::with(dialer, None)
    }

    /// With another resolver than [`Names`].
    pub(crate) fn with(dialer: Arc<dyn Dial>, resolver: Option<Arc<dyn Resolve>>) -> World {
        crate::trace::begin();
        let (names, keys, clock) = (Arc::<Names>::default(), Arc::<Keys>::default(), Arc::<Hands>::default());
        let gateway = Gateway::new(Surroundings {
            resolver: resolver.unwrap_or_else(|| Arc::clone(&names) as Arc<dyn Resolve>),
            dialer,
            secrets: Arc::clone(&keys) as Arc<dyn Secrets>,
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            own: vec!["8.8.4.4".parse().unwrap()],
            stand_in: None,
            cache_bytes: 1 << 20,
        });
        World { names, keys, clock, gateway }
    }

    /// One policy, `acme`, usable by all.
    pub(crate) fn egress(&self, mut policy: serde_json::Value) -> Egress {
        policy["usableBy"] = serde_json::json!({"schemas": ["*"], "workspaces": ["*"]});
        let spec: EgressPolicySpec = serde_json::from_value(policy).unwrap();
        let (egress, errors) = self.gateway.egress("root:platform", [("acme", &spec)]);
        assert!(errors.is_empty(), "{errors:?}");
        egress
    }
}

/// A GET of JSON.
pub(crate) fn get(url: &str) -> Call {
    Call {
        policy: "acme".into(),
        asker: Asker { schema: "things.acme.example".into(), workspace: "root:team".into() },
        method: Method::Get,
        url: url.to_owned(),
        headers: vec![],
        body: None,
        format: Format::Json,
        pagination: None,
        ttl: None,
        optional: false,
    }
}

/// Makes a call that has all the time that the policy gives it.
pub(crate) async fn make(egress: &Egress, call: &Call) -> Result<Reply, EgressError> {
    egress.call(call, tokio::time::Instant::now() + Duration::from_secs(60)).await
}

/// An error in the words of the tables: `Url DotSegment`, `NotAllowed Path`, `Status 500`.
pub(crate) fn word(error: &EgressError) -> String {
    let detail = |detail: &dyn std::fmt::Debug| {
        let text = format!("{detail:?}");
        text.split([' ', '{']).next().unwrap_or_default().to_owned()
    };
    match error {
        EgressError::Url(fault) => format!("Url {}", detail(fault)),
        EgressError::NotAllowed { part, .. } => format!("NotAllowed {}", detail(part)),
        EgressError::Tls(fault) => format!("Tls {}", detail(fault)),
        EgressError::Body(fault) => format!("Body {}", detail(fault)),
        EgressError::Pages(fault) => format!("Pages {}", detail(fault)),
        EgressError::Credentials { fault, .. } => format!("Credentials {}", detail(fault)),
        EgressError::Redirect { status } | EgressError::Status { status } | EgressError::Refused { status } => {
            format!("{} {status}", detail(error))
        }
        _ => detail(error),
    }
}
