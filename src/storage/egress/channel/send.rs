//! Sending one request: breaker, throttle, credentials, retries.
//!
//! Absent: what is answered from the cache, pages (channel).
use std::{
    sync::{Arc, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request, StatusCode, header};
use http_body_util::Full;
use tokio::time::Instant;

use crate::storage::egress::{
    auth::{self, Material, Scheme},
    breaker::{Admitted, Breaker, Ending},
    channel::{Breakers, Channel, Prepared, USER_AGENT, plain},
    decode,
    echo::Sent,
    error::{CredentialsFault, EgressError},
    exchange::{Answer, exchange},
    oauth2, retry,
    sensitive::Sensitive,
    stand_in,
    target::Target,
    throttle::Throttled,
};

/// Backends of one policy whose failures are counted; with wildcards there may be more, the idle ones are forgotten then.
const MOST_BREAKERS: usize = 1024;

impl Channel {
    /// Sends a request until it is answered or there is no use in more; tells how often it was sent.
    pub(super) async fn attempts(
        &self,
        prepared: &Prepared,
        validators: &[(HeaderName, HeaderValue)],
        deadline: Instant,
    ) -> (Result<Answer, EgressError>, u32) {
        let mut sent = 0;
        loop {
            let attempt = self.attempt(prepared, validators, deadline).await;
            sent += 1;
            let after = match &attempt {
                Ok(answer) => retry::retry_after(&answer.headers, self.shared.surroundings.clock.now()),
                Err(_) => None,
            };
            let error = match attempt.and_then(|answer| judge(answer, after)) {
                Ok(answer) => return (Ok(answer), sent),
                Err(error) => error,
            };
            let random = getrandom::u32().map_or(1.0, |n| f64::from(n) / f64::from(u32::MAX));
            let left = deadline.saturating_duration_since(Instant::now());
            let limit = self.rules.limits.attempts;
            match retry::delay(prepared.method, sent, limit, &error, after, left, random) {
                Some(_) if self.replays() => {}
                Some(delay) => tokio::time::sleep(delay).await,
                None => return (Err(error), sent),
            }
        }
    }

    /// Sends a request once, or twice where a token was no longer taken.
    async fn attempt(
        &self,
        prepared: &Prepared,
        validators: &[(HeaderName, HeaderValue)],
        deadline: Instant,
    ) -> Result<Answer, EgressError> {
        let permit = self.breaker(&prepared.target)?;
        let policy = || Arc::clone(&self.policy);
        let in_flight =
            self.throttle.admit(&prepared.workspace, deadline).await.map_err(|throttled| match throttled {
                Throttled::Rate(retry_after) => EgressError::Rate { policy: policy(), retry_after },
                Throttled::InFlight => EgressError::InFlight { policy: policy() },
            })?;
        let send = async {
            let (value, token) = self.authorization(None).await?;
            let answer = self.send(prepared, validators, value, deadline).await?;
            match token {
                Some(token) if answer.status == StatusCode::UNAUTHORIZED => {
                    let (value, _) = self.authorization(Some(&token)).await?;
                    self.send(prepared, validators, value, deadline).await
                }
                _ => Ok(answer),
            }
        };
        let sent = tokio::time::timeout_at(deadline, send).await.unwrap_or(Err(EgressError::Timeout));
        permit.settle(match &sent {
            Ok(answer) if answer.status.is_server_error() => Ending::Badly,
            Ok(_) => Ending::Well,
            Err(error) if passes(error) => Ending::Badly,
            // A body that is too long or a missing Secret says nothing about whether the backend is well.
            Err(_) => Ending::Unknown,
        });
        sent.map(|answer| Answer { in_flight: Some(in_flight), ..answer })
    }

    async fn send(
        &self,
        prepared: &Prepared,
        validators: &[(HeaderName, HeaderValue)],
        authorization: Option<HeaderValue>,
        deadline: Instant,
    ) -> Result<Answer, EgressError> {
        let stand_in = self.shared.surroundings.stand_in.as_ref().map(|stand_in| (stand_in, asked(prepared)));
        let limit = self.rules.limits.response_bytes;
        if let Some(answer) = stand_in.as_ref().and_then(|(stand_in, asked)| stand_in.answer(asked)) {
            let time = deadline.saturating_duration_since(Instant::now());
            return answer.and_then(|response| stand_in::taken(response, limit, time));
        }
        let sent = Sent::of(authorization.as_ref());
        let mut request = plain(prepared).map(|()| Full::new(prepared.body.clone()));
        let fields = request.headers_mut();
        fields.extend(validators.iter().cloned());
        fields.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(decode::ACCEPTED));
        if let (Some(credentials), Some(value)) = (&self.credentials, authorization) {
            fields.insert(credentials.field().clone(), value);
        }
        let started = Instant::now();
        let answer = exchange(&self.client, &self.policy, request, limit).await;
        if let Some((stand_in, asked)) = stand_in {
            let shown = answer.as_ref().map_err(Clone::clone).and_then(|answer| stand_in::shown(answer, limit));
            let echoed = shown.as_ref().is_ok_and(|r| sent.is_in(r.body()) || sent.is_in_fields(r.headers()));
            stand_in.saw(&asked, &shown, echoed);
        }
        let (host, took) = (prepared.target.host(), started.elapsed());
        match &answer {
            Ok(answer) => {
                tracing::debug!(policy = %self.policy, %host, status = answer.status.as_u16(), ?took, "answered")
            }
            Err(error) => tracing::debug!(policy = %self.policy, %host, %error, ?took, "failed"),
        }
        Ok(Answer { sent, ..answer? })
    }

    /// Whether no backend is ever asked.
    fn replays(&self) -> bool {
        self.shared.surroundings.stand_in.as_ref().is_some_and(|stand_in| stand_in.replays())
    }

    /// The value of the credentials' header field, and the token in it where there is one.
    async fn authorization(
        &self,
        refused: Option<&Sensitive<String>>,
    ) -> Result<(Option<HeaderValue>, Option<Sensitive<String>>), EgressError> {
        let Some(credentials) = &self.credentials else { return Ok((None, None)) };
        let fault = |fault| EgressError::Credentials { policy: Arc::clone(&self.policy), fault };
        let material = credentials.material().await.map_err(fault)?;
        match &credentials.scheme {
            Scheme::OAuth2 { .. } if self.replays() => Ok((None, None)),
            Scheme::OAuth2 { token_url, client_id, scopes } => {
                let fetch = || self.token(token_url, client_id, scopes, &material);
                let token = self.tokens.get(material.identity, refused, fetch).await.map_err(fault)?;
                let value = auth::bearer(token.expose()).map_err(fault)?;
                Ok((Some(value), Some(token)))
            }
            Scheme::Bearer | Scheme::Basic { .. } | Scheme::Header { .. } => {
                Ok((Some(credentials.value(&material).map_err(fault)?), None))
            }
        }
    }

    async fn token(
        &self,
        token_url: &str,
        client_id: &str,
        scopes: &[String],
        material: &Material,
    ) -> Result<Bytes, CredentialsFault> {
        let target = Target::parse(token_url).map_err(|_| CredentialsFault::TokenUrl)?;
        self.rules.admit_token(&target).map_err(|_| CredentialsFault::TokenUrl)?;
        let secret = Sensitive::new(oauth2::encoded(material.secret.expose()));
        let request = Request::post(target.to_string())
            .header(header::AUTHORIZATION, auth::basic(&oauth2::encoded(client_id), secret.expose())?)
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header(header::ACCEPT, "application/json")
            .header(header::USER_AGENT, USER_AGENT)
            .body(Full::from(oauth2::form(scopes)))
            .map_err(|_| CredentialsFault::TokenUrl)?;
        let answer = exchange(&self.client, &self.policy, request, oauth2::MOST_BYTES).await;
        let answer = answer.map_err(|error| {
            tracing::debug!(policy = %self.policy, %error, "the token endpoint failed");
            CredentialsFault::Token
        })?;
        if answer.status.is_success() { Ok(answer.body) } else { Err(CredentialsFault::Token) }
    }

    /// Asks the breaker of a target's backend.
    fn breaker(&self, target: &Target) -> Result<Permit<'_>, EgressError> {
        let Some((failures, open_for)) = self.rules.limits.breaker else { return Ok(Permit::default()) };
        let authority = target.authority();
        let mut breakers = self.breakers.lock().unwrap_or_else(PoisonError::into_inner);
        if breakers.len() >= MOST_BREAKERS {
            breakers.retain(|_, breaker| !breaker.is_idle());
        }
        let breaker = breakers.entry(authority.clone()).or_insert_with(|| Breaker::new(failures, open_for));
        let admitted = breaker.admit(Instant::now()).map_err(|retry_after| EgressError::Open { retry_after })?;
        Ok(Permit { of: Some((&self.breakers, authority, admitted)) })
    }
}

/// Notes how a request ended; dropped without that, that nobody knows.
#[derive(Default)]
struct Permit<'a> {
    of: Option<(&'a Breakers, String, Admitted)>,
}

impl Permit<'_> {
    fn settle(mut self, ending: Ending) {
        self.note(ending);
    }

    fn note(&mut self, ending: Ending) {
        if let Some((breakers, authority, admitted)) = self.of.take()
            && let Some(breaker) = breakers.lock().unwrap_or_else(PoisonError::into_inner).get_mut(&authority)
        {
            breaker.settle(admitted, ending, Instant::now());
        }
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.note(Ending::Unknown);
    }
}

/// The request as a stand-in sees it: without credentials.
fn asked(prepared: &Prepared) -> Request<Bytes> {
    plain(prepared).map(|()| prepared.body.clone())
}

/// What a status means.
fn judge(answer: Answer, retry_after: Option<Duration>) -> Result<Answer, EgressError> {
    let status = answer.status.as_u16();
    match status {
        // Nobody asked for a part, and a part is not the answer.
        206 => Err(EgressError::Status { status }),
        200..=299 | 304 | 404 => Ok(answer),
        300..=399 => Err(EgressError::Redirect { status }),
        401 | 403 => Err(EgressError::Refused { status }),
        429 => Err(EgressError::BackendBusy { retry_after }),
        _ => Err(EgressError::Status { status }),
    }
}

/// Whether an error speaks of the backend's state, which may pass.
pub(super) fn passes(error: &EgressError) -> bool {
    match error {
        EgressError::Status { status } => *status >= 500,
        EgressError::Resolve
        | EgressError::Connect
        | EgressError::Tls(_)
        | EgressError::Broken
        | EgressError::Timeout
        | EgressError::Open { .. }
        | EgressError::BackendBusy { .. } => true,
        _ => false,
    }
}
