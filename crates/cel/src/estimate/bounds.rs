//! The arithmetic of estimates (COST, B): ranges of sizes and of costs. It saturates, and rounds as upstream does, in f64.
//!
//! Absent: what has which size or cost.
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "upstream computes estimates in f64; what does not fit saturates"
)]
use std::ops::{Add, Mul};

/// The least and the most that a size or a cost can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The least.
    pub min: u64,
    /// The most; `u64::MAX` where nothing bounds it.
    pub max: u64,
}

impl Bounds {
    /// What nothing is known of.
    pub const UNKNOWN: Bounds = Bounds { min: 0, max: u64::MAX };

    /// Where a union begins.
    pub(crate) const NOTHING: Bounds = Bounds { min: u64::MAX, max: 0 };

    /// From `min` to `max`.
    pub const fn new(min: u64, max: u64) -> Bounds {
        Bounds { min, max }
    }

    /// Exactly `n`.
    pub const fn exactly(n: u64) -> Bounds {
        Bounds { min: n, max: n }
    }

    /// What can be either.
    #[must_use]
    pub fn union(self, other: Bounds) -> Bounds {
        Bounds { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// Both ends times `factor`, rounded up: `scaled(0.1)` is one traversal of a text of this size.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Bounds {
        Bounds { min: scale(self.min, factor), max: scale(self.max, factor) }
    }

    /// Both ends without `n`, not below 0.
    #[must_use]
    pub(crate) fn less(self, n: u64) -> Bounds {
        Bounds { min: self.min.saturating_sub(n), max: self.max.saturating_sub(n) }
    }
}

impl Add for Bounds {
    type Output = Bounds;

    fn add(self, other: Bounds) -> Bounds {
        Bounds { min: self.min.saturating_add(other.min), max: self.max.saturating_add(other.max) }
    }
}

impl Mul for Bounds {
    type Output = Bounds;

    fn mul(self, other: Bounds) -> Bounds {
        Bounds { min: self.min.saturating_mul(other.min), max: self.max.saturating_mul(other.max) }
    }
}

fn scale(x: u64, factor: f64) -> u64 {
    // A product that does not fit saturates with the cast.
    (x as f64 * factor).ceil() as u64
}

/// How often a part of `part` can stand in `whole`, rounded up.
pub(crate) fn parts(whole: u64, part: u64) -> u64 {
    const TOO_LARGE: f64 = 18_446_744_073_709_551_616.0;
    let parts = (whole as f64 / part as f64).ceil();
    // What Go's conversion makes of what does not fit, on amd64; estimates are to agree.
    if parts >= TOO_LARGE { 1 << 63 } else { parts as u64 }
}

#[cfg(test)]
mod tests {
    use super::Bounds;

    #[test]
    fn ends_saturate_and_are_rounded_up() {
        let most = Bounds::UNKNOWN;
        assert_eq!(most + Bounds::exactly(1), Bounds::new(1, u64::MAX));
        assert_eq!(most * Bounds::exactly(2), most);
        assert_eq!(most.scaled(50.0), most);
        assert_eq!(Bounds::new(30, 71).scaled(0.1), Bounds::new(3, 8));
        assert_eq!(Bounds::new(0, 1).less(1), Bounds::exactly(0));
    }
}
