//! When a request came and what randomness it gets: injected, so that golden answers stay the same.
//!
//! Absent: anything that depends on them.
use std::cell::RefCell;

use cel::value::Timestamp;
use jiff::fmt::temporal::DateTimePrinter;

/// The instant and the randomness of one request.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// The instant.
    pub time: jiff::Timestamp,
    /// The randomness.
    pub entropy: Entropy,
}

/// Random bytes: 16 for the request's uid, 5 for a generated name.
#[derive(Clone, Copy, Debug, Default)]
pub struct Entropy([u8; ENTROPY]);

const ENTROPY: usize = 21;

/// Moments whose randomness is asked for at once: a system call takes longer than the rest of a moment.
const AHEAD: usize = 64;

thread_local! {
    /// Randomness that nobody had yet.
    static POOL: RefCell<Vec<[u8; ENTROPY]>> = const { RefCell::new(Vec::new()) };
}

impl Entropy {
    /// What the operating system gives. Where it has none (a broken sandbox) the bytes are zero: nothing secret is made of
    /// them.
    pub fn random() -> Entropy {
        POOL.with_borrow_mut(|pool| {
            if pool.is_empty() {
                let mut bytes = [[0; ENTROPY]; AHEAD];
                if getrandom::fill(bytes.as_flattened_mut()).is_err() {
                    bytes = [[0; ENTROPY]; AHEAD];
                }
                pool.extend_from_slice(&bytes);
            }
            Entropy(pool.pop().unwrap_or_default())
        })
    }

    /// A version 4 UUID (RFC 9562, section 5.4).
    pub fn uid(&self) -> String {
        let mut text = String::with_capacity(36);
        for (index, byte) in self.0.iter().take(16).enumerate() {
            let byte = match index {
                6 => (byte & 0x0f) | 0x40,
                8 => (byte & 0x3f) | 0x80,
                _ => *byte,
            };
            if matches!(index, 4 | 6 | 8 | 10) {
                text.push('-');
            }
            for digit in [byte >> 4, byte & 0x0f] {
                text.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
            }
        }
        text
    }

    /// The end of a generated name.
    pub fn suffix(&self) -> [u8; 5] {
        let [.., a, b, c, d, e] = self.0;
        [a, b, c, d, e]
    }
}

impl Moment {
    /// Now, by the system's clock.
    pub fn now() -> Moment {
        Moment { time: jiff::Timestamp::now(), entropy: Entropy::random() }
    }

    /// RFC 3339 in seconds, as `creationTimestamp` is written.
    pub fn timestamp(&self) -> String {
        const SECONDS: DateTimePrinter = DateTimePrinter::new().precision(Some(0));
        SECONDS.timestamp_to_string(&self.time)
    }

    /// RFC 3339 in microseconds, as Kubernetes' `MicroTime` is written.
    pub fn precise_timestamp(&self) -> String {
        const MICROSECONDS: DateTimePrinter = DateTimePrinter::new().precision(Some(6));
        MICROSECONDS.timestamp_to_string(&self.time)
    }

    /// For expressions.
    pub fn to_cel(&self) -> Timestamp {
        let nanos = self.time.as_nanosecond();
        let seconds = nanos.div_euclid(1_000_000_000);
        Timestamp {
            seconds: i64::try_from(seconds).unwrap_or_default(),
            nanos: u32::try_from(nanos.rem_euclid(1_000_000_000)).unwrap_or_default(),
            offset_minutes: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_follows_from_the_moment() {
        let moment = Moment { time: "2026-01-01T00:00:00.123456789Z".parse().unwrap(), entropy: Entropy([0xff; 21]) };
        assert_eq!(moment.timestamp(), "2026-01-01T00:00:00Z");
        assert_eq!(moment.precise_timestamp(), "2026-01-01T00:00:00.123456Z");
        let whole = Moment { time: "2026-01-01T00:00:00.99Z".parse().unwrap(), ..moment };
        assert_eq!(
            (&*whole.timestamp(), &*whole.precise_timestamp()),
            ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00.990000Z")
        );
        assert_eq!(moment.to_cel().seconds, 1_767_225_600);
        assert_eq!(moment.to_cel().nanos, 123_456_789);
        assert_eq!(moment.entropy.uid(), "ffffffff-ffff-4fff-bfff-ffffffffffff");
        assert_eq!(Entropy::default().uid(), "00000000-0000-4000-8000-000000000000");
        assert_ne!(Entropy::random().uid(), Entropy::random().uid());
    }
}
