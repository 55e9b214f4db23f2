//! How many creates of a version are answered in a time: `limits.rate`, by the generic cell rate algorithm.
//!
//! Whoever is above it is told so at once, and when to come again. Absent: how many are at work at once (fair).
use std::{
    hash::{BuildHasher as _, RandomState},
    num::NonZeroU32,
    sync::Arc,
    time::Duration,
};

use governor::{
    Quota, RateLimiter,
    clock::Clock,
    middleware::NoOpMiddleware,
    state::{InMemoryState, NotKeyed},
};
use moka::{Expiry, sync::Cache};

use crate::{
    api::{ErrorCode, Status, StatusCause, StatusDetails, UserInfo, ephemeral_schema::RatePer},
    storage::catalog::{Rate, SchemaId},
};

/// Allowances that are remembered. One takes some 200 bytes; whoever's is forgotten has a whole one again, as it would
/// have after a pause.
const MAX_ALLOWANCES: u64 = 50_000;

/// The longest that an allowance is remembered after its last use; one that takes longer to fill is for jobs, not people.
const MAX_MEMORY: Duration = Duration::from_secs(24 * 60 * 60);

/// Whose allowance, of what. Hashes, random in each process: two that collide share an allowance, no more.
type Key = u64;

/// The allowances of all versions.
#[derive(Debug)]
pub struct Throttles {
    hasher: RandomState,
    allowances: Cache<Key, Arc<Allowance>>,
}

#[derive(Debug)]
struct Allowance {
    limiter: RateLimiter<NotKeyed, InMemoryState, TokioClock, NoOpMiddleware<std::time::Instant>>,
    /// Until it is whole again if it was empty.
    fills_in: Duration,
}

/// Whose creates of what are counted.
#[derive(Clone, Copy, Debug)]
pub struct Counted<'a> {
    /// The workspace in which is created.
    pub workspace: &'a str,
    /// The schema of the kind.
    pub schema: SchemaId,
    /// The group of the kind.
    pub group: &'a str,
    /// The version.
    pub version: &'a str,
    /// The plural of the kind.
    pub plural: &'a str,
    /// Who creates.
    pub user: &'a UserInfo,
}

impl Default for Throttles {
    fn default() -> Throttles {
        Throttles::of(MAX_ALLOWANCES)
    }
}

impl Throttles {
    fn of(most: u64) -> Throttles {
        let allowances = Cache::builder().max_capacity(most).expire_after(WhenWhole).build();
        Throttles { hasher: RandomState::new(), allowances }
    }

    /// Counts a create.
    ///
    /// # Errors
    /// 429: the allowance is used up.
    #[expect(clippy::result_large_err, reason = "a Status is what every refusal of storage is")]
    pub fn count(&self, rate: Option<&Rate>, counted: &Counted<'_>) -> Result<(), Status> {
        let Some(rate) = rate else { return Ok(()) };
        let Counted { workspace, schema, group, version, plural, user } = counted;
        // The rate is part of the key: a new rate is a new allowance.
        let rates = (rate.requests, rate.per, rate.burst);
        let key = match rate.shared {
            RatePer::User => self.hasher.hash_one((workspace, group, version, plural, &user.username, rates)),
            RatePer::Workspace => self.hasher.hash_one((workspace, group, version, plural, rates)),
            // Not by its name: a workspace could use up the allowance of another's schema.
            RatePer::Schema => self.hasher.hash_one((schema, version, rates)),
        };
        let Some(quota) = quota(rate) else { return Ok(()) };
        let allowance = self.allowances.get_with(key, || {
            let fills_in = quota.burst_size_replenished_in().min(MAX_MEMORY);
            Arc::new(Allowance { limiter: RateLimiter::direct_with_clock(quota, TokioClock), fills_in })
        });
        allowance.limiter.check().map_err(|not_until| {
            let wait = not_until.earliest_possible().duration_since(TokioClock.now());
            exhausted(rate, counted, wait)
        })
    }
}

/// One cell each `per / requests`. The lowering allows no zero; where one came through there is no bound.
fn quota(rate: &Rate) -> Option<Quota> {
    let each = rate.per.checked_div(rate.requests)?;
    Some(Quota::with_period(each)?.allow_burst(NonZeroU32::new(rate.burst)?))
}

/// 429 as kube-apiserver words it; the cause says which bound it was. The wait is in the details alone: a `Retry-After`
/// header makes client-go try again by itself, eleven times.
fn exhausted(rate: &Rate, counted: &Counted<'_>, wait: Duration) -> Status {
    let Rate { requests, per, burst, shared } = rate;
    let whose = match shared {
        RatePer::User => "each user",
        RatePer::Workspace => "all users of a workspace together",
        RatePer::Schema => "all users of all workspaces together",
    };
    let message = format!("the schema allows {requests} in {} s for {whose}, and {burst} at once", per.as_secs());
    let cause = StatusCause { reason: "RateLimited".into(), message, field: "limits.rate".into() };
    too_many(counted, wait, vec![cause])
}

/// 429 of a server that has no room.
pub fn overloaded(counted: &Counted<'_>) -> Status {
    let cause = StatusCause {
        reason: "Overloaded".into(),
        message: "too many creates are at work".into(),
        field: String::new(),
    };
    too_many(counted, Duration::from_secs(1), vec![cause])
}

fn too_many(counted: &Counted<'_>, wait: Duration, causes: Vec<StatusCause>) -> Status {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    let details = StatusDetails {
        group: counted.group.into(),
        kind: counted.plural.into(),
        causes,
        retry_after_seconds: Some(u32::try_from(seconds).unwrap_or(u32::MAX).max(1)),
        ..StatusDetails::default()
    };
    Status::new(ErrorCode::TOO_MANY_REQUESTS, "TooManyRequests", "Too many requests, please try again later.")
        .with_details(details)
}

/// Tokio's clock, which tests can stop.
#[derive(Clone, Debug)]
struct TokioClock;

impl Clock for TokioClock {
    type Instant = std::time::Instant;

    fn now(&self) -> std::time::Instant {
        tokio::time::Instant::now().into_std()
    }
}

/// An allowance that is whole again is as good as none.
#[derive(Debug)]
struct WhenWhole;

impl Expiry<Key, Arc<Allowance>> for WhenWhole {
    fn expire_after_create(&self, _: &Key, allowance: &Arc<Allowance>, _: std::time::Instant) -> Option<Duration> {
        Some(allowance.fills_in)
    }

    fn expire_after_read(
        &self,
        _: &Key,
        allowance: &Arc<Allowance>,
        _: std::time::Instant,
        _: Option<Duration>,
        _: std::time::Instant,
    ) -> Option<Duration> {
        Some(allowance.fills_in)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(requests: u32, seconds: u64, burst: u32, shared: RatePer) -> Rate {
        Rate { requests, per: Duration::from_secs(seconds), burst, shared }
    }

    fn user(name: &str) -> UserInfo {
        UserInfo { username: name.into(), ..UserInfo::default() }
    }

    fn counted<'a>(workspace: &'a str, user: &'a UserInfo) -> Counted<'a> {
        Counted { workspace, schema: SchemaId([7; 32]), group: "acme.example", version: "v1", plural: "infos", user }
    }

    /// How many of 10 creates are answered.
    fn answered(throttles: &Throttles, rate: &Rate, workspace: &str, name: &str) -> usize {
        let user = user(name);
        (0..10).filter(|_| throttles.count(Some(rate), &counted(workspace, &user)).is_ok()).count()
    }

    #[tokio::test(start_paused = true)]
    async fn each_user_has_an_allowance_that_fills() {
        let throttles = Throttles::default();
        let rate = rate(2, 1, 4, RatePer::User);
        assert_eq!(answered(&throttles, &rate, "root", "jane"), 4);
        assert_eq!(answered(&throttles, &rate, "root", "jane"), 0);
        assert_eq!(answered(&throttles, &rate, "root", "sam"), 4);
        assert_eq!(answered(&throttles, &rate, "root:other", "jane"), 4);
        tokio::time::advance(Duration::from_millis(1000)).await;
        assert_eq!(answered(&throttles, &rate, "root", "jane"), 2);
        tokio::time::advance(Duration::from_secs(60)).await;
        assert_eq!(answered(&throttles, &rate, "root", "jane"), 4);
    }

    #[tokio::test(start_paused = true)]
    async fn a_workspace_shares_one() {
        let throttles = Throttles::default();
        let rate = rate(1, 60, 3, RatePer::Workspace);
        assert_eq!(answered(&throttles, &rate, "root", "jane"), 3);
        assert_eq!(answered(&throttles, &rate, "root", "sam"), 0);
        assert_eq!(answered(&throttles, &rate, "root:other", "sam"), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn all_workspaces_share_that_of_a_schema() {
        let throttles = Throttles::default();
        let rate = rate(1, 60, 3, RatePer::Schema);
        assert_eq!(answered(&throttles, &rate, "root", "jane"), 3);
        assert_eq!(answered(&throttles, &rate, "root:other", "sam"), 0);
        let sam = user("sam");
        // A schema of the same name that is another one.
        let other = Counted { schema: SchemaId([8; 32]), ..counted("root:other", &sam) };
        assert!(throttles.count(Some(&rate), &other).is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_new_rate_is_a_new_allowance() {
        let throttles = Throttles::default();
        assert_eq!(answered(&throttles, &rate(1, 60, 3, RatePer::User), "root", "jane"), 3);
        assert_eq!(answered(&throttles, &rate(1, 60, 5, RatePer::User), "root", "jane"), 5);
    }

    #[tokio::test(start_paused = true)]
    async fn the_refusal_tells_when_to_come_again() {
        let throttles = Throttles::default();
        let jane = user("jane");
        let rate = rate(1, 30, 1, RatePer::User);
        throttles.count(Some(&rate), &counted("root", &jane)).unwrap();
        let status = throttles.count(Some(&rate), &counted("root", &jane)).unwrap_err();
        assert_eq!(
            serde_json::to_value(status).unwrap(),
            serde_json::json!({
                "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                "message": "Too many requests, please try again later.", "reason": "TooManyRequests", "code": 429,
                "details": {
                    "group": "acme.example", "kind": "infos", "retryAfterSeconds": 30,
                    "causes": [{
                        "reason": "RateLimited", "field": "limits.rate",
                        "message": "the schema allows 1 in 30 s for each user, and 1 at once",
                    }],
                },
            })
        );
        assert_eq!(throttles.count(None, &counted("root", &jane)), Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_remembered_is_bounded() {
        let throttles = Throttles::of(100);
        let rate = rate(1, 3600, 1, RatePer::User);
        for index in 0..1_000 {
            let _ = throttles.count(Some(&rate), &counted("root", &user(&index.to_string())));
        }
        throttles.allowances.run_pending_tasks();
        assert!(throttles.allowances.entry_count() <= 100);
        assert!(throttles.allowances.entry_count() > 0);
    }
}
