//! An EgressPolicy after it was read: what it allows, in forms that are compared without further reading.
//!
//! Absent: the state of its calls (gateway), addresses of hosts (address), the bytes of its credentials (secrets).
use std::{sync::Arc, time::Duration};

use crate::{
    api::{
        egress_policy::{Auth, EgressPolicySpec, Endpoint, Scheme},
        ephemeral_schema::Method,
    },
    engine::diagnostic::FieldPath,
    storage::egress::{
        call::Literal,
        error::{Part, UrlFault},
        host::Host,
        network::Network,
        path::Path,
        target::{Target, default_port, parse_scheme},
    },
};

/// The deadline of one call where the policy gives none.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest body where the policy gives no bound.
const DEFAULT_RESPONSE_BYTES: usize = 1024 * 1024;
/// The longest body that any policy allows: as long as the longest response of ours.
pub const MOST_RESPONSE_BYTES: usize = 8 * 1024 * 1024;
/// Unanswered calls at a time where the policy gives no bound.
const DEFAULT_IN_FLIGHT: usize = 20;

/// What is wrong with a policy; for its administrator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// A host that is none.
    #[error("`{host}` is neither a host name, an address nor `*.` and a domain")]
    Host {
        /// Of the endpoint.
        index: usize,
        /// As written.
        host: String,
    },
    /// A prefix that is no path.
    #[error("`{prefix}` is no prefix of paths: {fault}")]
    Prefix {
        /// Of the endpoint.
        index: usize,
        /// In its prefixes.
        at: usize,
        /// As written.
        prefix: String,
        /// What is wrong with it.
        fault: UrlFault,
    },
    /// A prefix that does not begin as paths do.
    #[error("a prefix of paths begins with `/`")]
    RelativePrefix {
        /// Of the endpoint.
        index: usize,
        /// In its prefixes.
        at: usize,
    },
    /// A network that is none.
    #[error("`{network}`: {fault}")]
    Network {
        /// In the networks.
        index: usize,
        /// As written.
        network: String,
        /// What it should be.
        fault: super::network::NotANetwork,
    },
    /// No or broken certificates.
    #[error("it holds no valid PEM certificate")]
    CaBundle,
    /// A token endpoint that is no URL.
    #[error("{0}")]
    TokenUrl(UrlFault),
    /// A token endpoint that is no endpoint.
    #[error("it is below none of spec.endpoints")]
    TokenEndpoint,
    /// None or more than one kind of credentials.
    #[error("exactly one of bearer, basic, header and oauth2 must be set")]
    Auth,
    /// A header field that cannot hold credentials.
    #[error("`{name}` is not a header field that can hold credentials")]
    HeaderName {
        /// As written.
        name: String,
    },
    /// A reference that no Secret can have.
    #[error("`{part}` cannot be {what} of a Secret")]
    Secret {
        /// `bearer`
        scheme: &'static str,
        /// `namespace`
        field: &'static str,
        /// `the namespace`
        what: &'static str,
        /// As written.
        part: String,
    },
    /// A burst of what has no rate.
    #[error("it means nothing without `requestsPerSecond`")]
    Burst,
}

impl PolicyError {
    /// Where in the policy it is.
    pub fn path(&self) -> FieldPath {
        let spec = FieldPath::root().field("spec");
        let endpoint = |index: &usize| spec.field("endpoints").index(*index);
        let auth = spec.field("auth");
        match self {
            PolicyError::Host { index, .. } => endpoint(index).field("host"),
            PolicyError::Prefix { index, at, .. } | PolicyError::RelativePrefix { index, at } => {
                endpoint(index).field("pathPrefixes").index(*at)
            }
            PolicyError::Network { index, .. } => spec.field("networks").field("allow").index(*index),
            PolicyError::CaBundle => spec.field("tls").field("caBundle"),
            PolicyError::TokenUrl(_) | PolicyError::TokenEndpoint => auth.field("oauth2").field("tokenUrl"),
            PolicyError::Auth => auth,
            PolicyError::HeaderName { .. } => auth.field("header").field("name"),
            PolicyError::Secret { scheme, field, .. } => auth.field(scheme).field("secretRef").field(field),
            PolicyError::Burst => spec.field("limits").field("burst"),
        }
    }
}

/// What a policy allows. INVARIANT: every part is in normal form; upheld by [`Rules::read`].
#[derive(Clone, Debug)]
pub struct Rules {
    endpoints: Vec<Rule>,
    /// Networks beyond the public internet.
    pub networks: Vec<Network>,
    schemas: Vec<String>,
    workspaces: Vec<String>,
    /// The bounds of its calls.
    pub limits: Limits,
    /// Where credentials are got.
    token: Option<Target>,
}

/// The bounds of calls, defaults filled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Of one call with its retries and pages.
    pub timeout: Duration,
    /// Of a body, before and after decompression, and of all pages of a call together.
    pub response_bytes: usize,
    /// Calls a second, and at once.
    pub rate: Option<(u32, u32)>,
    /// Unanswered requests at a time.
    pub in_flight: usize,
    /// Requests of one call that reads, the first included.
    pub attempts: u32,
    /// Failures in a row, and for how long the backend is left alone then.
    pub breaker: Option<(u32, Duration)>,
}

#[derive(Clone, Debug)]
struct Rule {
    scheme: Scheme,
    host: HostRule,
    port: u16,
    prefixes: Vec<Path>,
    methods: Vec<Method>,
}

#[derive(Clone, Debug)]
enum HostRule {
    Exactly(Host),
    /// One label and this.
    DirectlyBelow(Arc<str>),
}

impl HostRule {
    fn parse(text: &str) -> Option<HostRule> {
        match text.strip_prefix("*.") {
            None => Host::parse(text).ok().map(HostRule::Exactly),
            Some(domain) => match Host::parse(domain).ok()? {
                Host::Name(name) => Some(HostRule::DirectlyBelow(name)),
                Host::Address(_) => None,
            },
        }
    }

    fn matches(&self, host: &Host) -> bool {
        match (self, host) {
            (HostRule::Exactly(own), host) => own == host,
            (HostRule::DirectlyBelow(domain), Host::Name(name)) => {
                name.split_once('.').is_some_and(|(label, rest)| !label.is_empty() && *rest == **domain)
            }
            (HostRule::DirectlyBelow(_), Host::Address(_)) => false,
        }
    }
}

impl Rules {
    /// Reads a policy; gives all that is wrong with it.
    pub fn read(spec: &EgressPolicySpec) -> Result<Rules, Vec<PolicyError>> {
        let mut errors = vec![];
        let endpoints = spec.endpoints.iter().enumerate();
        let endpoints: Vec<Rule> = endpoints.filter_map(|(index, e)| read_endpoint(index, e, &mut errors)).collect();
        let mut networks = vec![];
        for (index, text) in spec.networks.iter().flat_map(|networks| &networks.allow).enumerate() {
            match Network::parse(text) {
                Ok(network) => networks.push(network),
                Err(fault) => errors.push(PolicyError::Network { index, network: text.clone(), fault }),
            }
        }
        if spec.limits.as_ref().is_some_and(|limits| limits.burst.is_some() && limits.requests_per_second.is_none()) {
            errors.push(PolicyError::Burst);
        }
        let usable = spec.usable_by.clone().unwrap_or_default();
        let (schemas, workspaces) = (usable.schemas, usable.workspaces);
        let oauth2 = spec.auth.as_ref().and_then(|auth| auth.oauth2.as_ref());
        let token = oauth2.and_then(|oauth2| Target::parse(&oauth2.token_url).ok());
        let rules = Rules { endpoints, networks, schemas, workspaces, limits: read_limits(spec), token };
        if let Some(auth) = &spec.auth {
            check_auth(auth, &rules, &mut errors);
        }
        if errors.is_empty() { Ok(rules) } else { Err(errors) }
    }

    /// Whether schemas of a name may use it.
    pub fn admits_schema(&self, name: &str) -> bool {
        self.schemas.iter().any(|pattern| matches_pattern(pattern, name))
    }

    /// Whether it may be used in a workspace; patterns may leave `root:` out.
    pub fn admits_workspace(&self, path: &str) -> bool {
        let short = path.strip_prefix("root:").unwrap_or(path);
        self.workspaces.iter().any(|pattern| matches_pattern(pattern, path) || matches_pattern(pattern, short))
    }

    /// Whether one workspace alone may use it.
    pub fn is_for_one_workspace(&self) -> bool {
        matches!(self.workspaces.as_slice(), [one] if !one.contains('*'))
    }

    /// Whether an endpoint allows a call; otherwise what the closest endpoint does not allow of it. The token endpoint is for
    /// nobody else, whatever the endpoints say: what it answers are credentials.
    pub fn admit(&self, target: &Target, method: Method) -> Result<(), Part> {
        let is_token =
            |token: &Target| token.same_origin(target) && target.path().segments().eq(token.path().segments());
        if self.token.as_ref().is_some_and(is_token) {
            return Err(Part::Path);
        }
        let path = |rule: &Rule| rule.prefixes.is_empty() || rule.prefixes.iter().any(|p| target.path().is_below(p));
        self.closest(target.scheme(), target.host(), target.port(), path, |rule| allows_method(rule, method))
    }

    /// Whether credentials may be got from a target. The method is not asked about: authors must not get to send POST
    /// because the token endpoint needs it.
    pub fn admit_token(&self, target: &Target) -> Result<(), Part> {
        let path = |rule: &Rule| rule.prefixes.is_empty() || rule.prefixes.iter().any(|p| target.path().is_below(p));
        self.closest(target.scheme(), target.host(), target.port(), path, |_| true)
    }

    /// Whether an endpoint may allow a call of which this much is known.
    pub fn admit_literal(&self, literal: &Literal<'_>) -> Result<Result<(), Part>, UrlFault> {
        let scheme = parse_scheme(literal.scheme)?;
        let host = Host::parse(literal.host)?;
        let port = match literal.port {
            Some(0) => return Err(UrlFault::Port),
            port => port.unwrap_or_else(|| default_port(scheme)),
        };
        let known = Path::parse(literal.path)?;
        let fits = |prefix: &Path| match literal.path_is_whole {
            true => known.is_below(prefix),
            false => known.may_lead_below(prefix),
        };
        let path = |rule: &Rule| rule.prefixes.is_empty() || rule.prefixes.iter().any(fits);
        Ok(self.closest(scheme, &host, port, path, |rule| allows_method(rule, literal.method)))
    }

    fn closest(
        &self,
        scheme: Scheme,
        host: &Host,
        port: u16,
        path: impl Fn(&Rule) -> bool,
        method: impl Fn(&Rule) -> bool,
    ) -> Result<(), Part> {
        let mut furthest = Part::Scheme;
        for rule in &self.endpoints {
            let checks = [
                (Part::Scheme, rule.scheme == scheme),
                (Part::Host, rule.host.matches(host)),
                (Part::Port, rule.port == port),
                (Part::Path, path(rule)),
                (Part::Method, method(rule)),
            ];
            match checks.into_iter().find(|(_, fits)| !fits) {
                None => return Ok(()),
                Some((part, _)) => furthest = furthest.max(part),
            }
        }
        Err(furthest)
    }
}

fn allows_method(rule: &Rule, method: Method) -> bool {
    match rule.methods.as_slice() {
        [] => matches!(method, Method::Get | Method::Head),
        some => some.contains(&method),
    }
}

fn read_endpoint(index: usize, endpoint: &Endpoint, errors: &mut Vec<PolicyError>) -> Option<Rule> {
    let host = HostRule::parse(&endpoint.host);
    if host.is_none() {
        errors.push(PolicyError::Host { index, host: endpoint.host.clone() });
    }
    let mut prefixes = vec![];
    for (at, prefix) in endpoint.path_prefixes.iter().enumerate() {
        match Path::parse(prefix) {
            _ if !prefix.starts_with('/') => errors.push(PolicyError::RelativePrefix { index, at }),
            Ok(path) => prefixes.push(path),
            Err(fault) => errors.push(PolicyError::Prefix { index, at, prefix: prefix.clone(), fault }),
        }
    }
    Some(Rule {
        scheme: endpoint.scheme,
        host: host?,
        port: endpoint.port.unwrap_or_else(|| default_port(endpoint.scheme)),
        prefixes,
        methods: endpoint.methods.clone(),
    })
}

fn read_limits(spec: &EgressPolicySpec) -> Limits {
    let limits = spec.limits.clone().unwrap_or_default();
    let size = |n: u32| usize::try_from(n).unwrap_or(usize::MAX);
    Limits {
        timeout: limits.timeout_seconds.map_or(DEFAULT_TIMEOUT, |seconds| Duration::from_secs(seconds.into())),
        response_bytes: limits.max_response_bytes.map_or(DEFAULT_RESPONSE_BYTES, size).min(MOST_RESPONSE_BYTES),
        rate: limits.requests_per_second.map(|rate| (rate, limits.burst.unwrap_or(rate))),
        in_flight: limits.max_in_flight.map_or(DEFAULT_IN_FLIGHT, size),
        attempts: spec.retry.as_ref().map_or(1, |retry| retry.attempts).max(1),
        breaker: spec.breaker.as_ref().map(|b| (b.failures.max(1), Duration::from_secs(b.open_seconds.into()))),
    }
}

fn check_auth(auth: &Auth, rules: &Rules, errors: &mut Vec<PolicyError>) {
    let Auth { bearer, basic, header, oauth2 } = auth;
    if [bearer.is_some(), basic.is_some(), header.is_some(), oauth2.is_some()].iter().filter(|set| **set).count() != 1 {
        errors.push(PolicyError::Auth);
    }
    let secrets = [
        ("bearer", bearer.as_ref().map(|auth| &auth.secret_ref)),
        ("basic", basic.as_ref().map(|auth| &auth.secret_ref)),
        ("header", header.as_ref().map(|auth| &auth.secret_ref)),
        ("oauth2", oauth2.as_ref().map(|auth| &auth.secret_ref)),
    ];
    for (scheme, secret) in secrets.into_iter().filter_map(|(scheme, secret)| Some((scheme, secret?))) {
        for (field, what, part) in [
            ("namespace", "the namespace", &secret.namespace),
            ("name", "the name", &secret.name),
            ("key", "a key", &secret.key),
        ] {
            if !super::secrets::is_part(part) {
                errors.push(PolicyError::Secret { scheme, field, what, part: part.clone() });
            }
        }
    }
    if let Some(header) = header
        && !super::headers::may_hold_credentials(&header.name)
    {
        errors.push(PolicyError::HeaderName { name: header.name.clone() });
    }
    if let Some(oauth2) = oauth2 {
        match Target::parse(&oauth2.token_url) {
            Err(fault) => errors.push(PolicyError::TokenUrl(fault)),
            Ok(target) if rules.admit_token(&target).is_err() => errors.push(PolicyError::TokenEndpoint),
            Ok(_) => {}
        }
    }
}

/// Whether a text matches a pattern in which `*` stands for any text.
fn matches_pattern(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    let mut rest = rest;
    for part in parts {
        // The first place is as good as any: what follows may be anything.
        let Some(at) = rest.find(part) else { return false };
        rest = rest.get(at + part.len()..).unwrap_or_default();
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(json: serde_json::Value) -> Result<Rules, Vec<PolicyError>> {
        Rules::read(&serde_json::from_value(json).unwrap())
    }

    fn acme() -> Rules {
        rules(serde_json::json!({
            "endpoints": [
                {"host": "Metrics.acme.example", "pathPrefixes": ["/api/v1/"]},
                {"host": "*.acme.example", "port": 8443, "methods": ["POST"]},
            ],
            "usableBy": {"schemas": ["*.storage.acme.example"], "workspaces": ["acme:*", "root:other"]},
        }))
        .unwrap()
    }

    #[test]
    fn the_closest_endpoint_tells_what_is_not_allowed() {
        let rules = acme();
        for (url, method, want) in [
            ("https://metrics.acme.example/api/v1/query?q=1", Method::Get, Ok(())),
            ("https://METRICS.acme.example.:443/api/v1", Method::Head, Ok(())),
            ("https://x.acme.example:8443/any", Method::Post, Ok(())),
            ("http://metrics.acme.example/api/v1/", Method::Get, Err(Part::Scheme)),
            ("https://a.b.acme.example:8443/", Method::Post, Err(Part::Host)),
            ("https://acme.example:8443/", Method::Post, Err(Part::Host)),
            ("https://x.acme.example/", Method::Post, Err(Part::Port)),
            ("https://metrics.acme.example/api/v10", Method::Get, Err(Part::Path)),
            ("https://metrics.acme.example/api/v1/", Method::Put, Err(Part::Method)),
        ] {
            assert_eq!(rules.admit(&Target::parse(url).unwrap(), method), want, "{url}");
        }
    }

    #[test]
    fn schemas_and_workspaces_match_patterns() {
        let rules = acme();
        assert!(rules.admits_schema("bucketinfos.storage.acme.example"));
        assert!(!rules.admits_schema("bucketinfos.storage.acme.example.evil"));
        assert!(rules.admits_workspace("root:acme:team") && rules.admits_workspace("root:other"));
        assert!(!rules.admits_workspace("root:acme") && !rules.admits_workspace("root"));
        for (pattern, text, want) in [
            ("*", "", true),
            ("", "", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*a", "a", false),
            ("*x*", "axb", true),
            ("a", "ab", false),
            ("**", "x", true),
        ] {
            assert_eq!(matches_pattern(pattern, text), want, "{pattern} {text}");
        }
    }

    #[test]
    fn everything_wrong_is_told() {
        let errors = rules(serde_json::json!({
            "endpoints": [{"host": "*"}, {"host": "127.1"}, {"host": "a.example", "pathPrefixes": ["/", "x", "/../"]}],
            "networks": {"allow": ["10.0.0.0/8", "10.0.0.1/8"]},
            "auth": {"oauth2": {"tokenUrl": "https://b.example/", "clientId": "c",
                     "secretRef": {"namespace": "..", "name": "a/b", "key": "k"}}},
            "limits": {"burst": 5},
        }))
        .unwrap_err();
        let told: Vec<String> = errors.iter().map(|error| format!("{}: {error}", error.path())).collect();
        assert_eq!(
            told,
            [
                "spec.endpoints[0].host: `*` is neither a host name, an address nor `*.` and a domain",
                "spec.endpoints[1].host: `127.1` is neither a host name, an address nor `*.` and a domain",
                "spec.endpoints[2].pathPrefixes[1]: a prefix of paths begins with `/`",
                "spec.endpoints[2].pathPrefixes[2]: `/../` is no prefix of paths: its path holds a dot segment",
                "spec.networks.allow[1]: `10.0.0.1/8`: not a network in CIDR notation without bits beyond its prefix \
                 (`10.0.0.0/8`, `192.0.2.7/32`, `fd00::/8`)",
                "spec.limits.burst: it means nothing without `requestsPerSecond`",
                "spec.auth.oauth2.secretRef.namespace: `..` cannot be the namespace of a Secret",
                "spec.auth.oauth2.secretRef.name: `a/b` cannot be the name of a Secret",
                "spec.auth.oauth2.tokenUrl: it is below none of spec.endpoints",
            ]
        );
        let rules_of_all = rules(serde_json::json!({
            "endpoints": [{"host": "a.example", "methods": ["GET", "POST"]}],
            "auth": {"oauth2": {"tokenUrl": "https://A.example/o/token", "clientId": "c",
                     "secretRef": {"namespace": "n", "name": "s", "key": "k"}}},
        }))
        .unwrap();
        let admit = |url: &str| rules_of_all.admit(&Target::parse(url).unwrap(), Method::Post);
        assert_eq!(admit("https://a.example/o/token?x=1"), Err(Part::Path));
        assert_eq!(admit("https://a.example:443/%6f/token/"), Err(Part::Path));
        assert!(admit("https://a.example/o").is_ok() && admit("https://a.example/o/token/x").is_ok());
        assert!(rules(serde_json::json!({"endpoints": [{"host": "a.example"}]})).is_ok_and(|r| !r.admits_schema("x")));
    }
}
