//! Whether a request is sent again, and when: idempotent ones, after failures that pass, while there is time.
//!
//! Absent: waiting and sending (channel), randomness (handed in).
use std::time::{Duration, SystemTime};

use http::HeaderMap;

use crate::{api::ephemeral_schema::Method, storage::egress::error::EgressError};

/// The first delay is up to this, each further one up to twice the one before.
const BASE: Duration = Duration::from_millis(100);
/// No delay of ours is longer.
const LONGEST: Duration = Duration::from_secs(2);

/// How long to wait before the next request; `None` to give up. `random` is from 0 to 1.
pub(super) fn delay(
    method: Method,
    sent: u32,
    attempts: u32,
    error: &EgressError,
    retry_after: Option<Duration>,
    left: Duration,
    random: f64,
) -> Option<Duration> {
    // RFC 9110, section 9.2.2. A source cannot be of the method DELETE.
    let idempotent = matches!(method, Method::Get | Method::Head | Method::Put);
    let passes = match error {
        EgressError::Connect | EgressError::Broken | EgressError::BackendBusy { .. } => true,
        EgressError::Status { status } => matches!(status, 502..=504),
        _ => false,
    };
    if !idempotent || !passes || sent >= attempts {
        return None;
    }
    let most = BASE.saturating_mul(1 << sent.saturating_sub(1).min(16)).min(LONGEST);
    // Full jitter: callers that failed together do not come back together, also where they were told the same time.
    let delay = retry_after.unwrap_or_default().saturating_add(most.mul_f64(random.clamp(0.0, 1.0)));
    (delay < left).then_some(delay)
}

/// No backend sends clients away for longer.
const LONGEST_TOLD: Duration = Duration::from_secs(24 * 60 * 60);

/// The `Retry-After` header field: seconds, or a date (RFC 9110, section 10.2.3).
pub(super) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    told(headers, now).map(|after| after.min(LONGEST_TOLD))
}

fn told(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = headers.get(http::header::RETRY_AFTER)?.to_str().ok()?.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // What does not fit is long enough.
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)));
    }
    let date = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).ok()?;
    let at = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(u64::try_from(date.as_second()).ok()?))?;
    Some(at.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(method: Method, sent: u32, error: EgressError, after: Option<u64>, want: Option<u64>) {
        let after = after.map(Duration::from_secs);
        let got = delay(method, sent, 3, &error, after, Duration::from_secs(5), 1.0);
        assert_eq!(got, want.map(Duration::from_millis), "{error:?}");
    }

    #[test]
    fn what_passes_is_tried_again() {
        check(Method::Get, 1, EgressError::Connect, None, Some(100));
        check(Method::Get, 2, EgressError::Status { status: 503 }, None, Some(200));
        check(Method::Head, 1, EgressError::BackendBusy { retry_after: None }, Some(2), Some(2100));
        check(Method::Get, 1, EgressError::Status { status: 503 }, Some(60), None);
        check(Method::Get, 3, EgressError::Connect, None, None);
        check(Method::Put, 1, EgressError::Connect, None, Some(100));
        check(Method::Post, 1, EgressError::Connect, None, None);
        check(Method::Patch, 1, EgressError::Connect, None, None);
        for error in [EgressError::Resolve, EgressError::Status { status: 500 }, EgressError::Timeout] {
            check(Method::Get, 1, error, None, None);
        }
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        let read = |text: &'static str| {
            let headers = HeaderMap::from_iter([(http::header::RETRY_AFTER, http::HeaderValue::from_static(text))]);
            retry_after(&headers, now).map(|after| after.as_secs())
        };
        assert_eq!(read("120"), Some(120));
        assert_eq!(read("Sun, 06 Nov 1994 08:49:47 GMT"), Some(10));
        assert_eq!(read("Sun, 06 Nov 1994 08:00:00 GMT"), Some(0));
        let longest = LONGEST_TOLD.as_secs();
        for far in ["86401", "9999999", "99999999999999999999999", "Wed, 21 Oct 2099 07:28:00 GMT"] {
            assert_eq!(read(far), Some(longest), "{far}");
        }
        for none in ["soon", "-1", "1.5", "1, 2", "", "+5"] {
            assert_eq!(read(none), None, "{none}");
        }
    }
}
