//! Exact decimal numbers of any size: what quantities are made of.
//!
//! A number is digits times a power of ten, so that `1e2147483647` costs nothing; sums of numbers whose digits lie too far
//! apart are refused rather than written out.
//!
//! Absent: the text form of quantities (quantity).
use std::{cmp::Ordering, fmt};

/// Digits that a sum may have.
const MAX_DIGITS: i64 = 10_000;

/// `±digits * 10^exponent`. INVARIANT (upheld by `normal`): no leading and no trailing 0; zero has no digits and exponent 0.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Decimal {
    negative: bool,
    /// Most significant first, 0 to 9.
    digits: Vec<u8>,
    exponent: i64,
}

impl fmt::Debug for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.negative { "-" } else { "" };
        let digits = if self.digits.is_empty() { "0".to_string() } else { text(&self.digits) };
        write!(f, "{sign}{digits}e{}", self.exponent)
    }
}

fn text(digits: &[u8]) -> String {
    digits.iter().map(|d| char::from(b'0' + d)).collect()
}

impl Decimal {
    fn normal(negative: bool, mut digits: Vec<u8>, mut exponent: i64) -> Decimal {
        let leading = digits.iter().take_while(|d| **d == 0).count();
        digits.drain(..leading);
        while digits.last() == Some(&0) {
            digits.pop();
            exponent += 1;
        }
        if digits.is_empty() {
            return Decimal { negative: false, digits, exponent: 0 };
        }
        Decimal { negative, digits, exponent }
    }

    /// From ASCII digits.
    pub(super) fn new(negative: bool, digits: &str, exponent: i64) -> Decimal {
        Decimal::normal(negative, digits.bytes().map(|b| b.wrapping_sub(b'0')).collect(), exponent)
    }

    pub(super) fn from_int(value: i64, exponent: i64) -> Decimal {
        Decimal::new(value < 0, &value.unsigned_abs().to_string(), exponent)
    }

    pub(super) fn negated(self) -> Decimal {
        Decimal { negative: !self.negative && !self.digits.is_empty(), ..self }
    }

    /// -1, 0 or 1.
    pub(super) fn sign(&self) -> i64 {
        if self.digits.is_empty() {
            0
        } else if self.negative {
            -1
        } else {
            1
        }
    }

    /// The power of ten just above: 12.5 has 2.
    fn magnitude(&self) -> i64 {
        self.exponent + count(self.digits.len())
    }

    pub(super) fn times(&self, factor: u64) -> Decimal {
        let mut carry = 0u128;
        let mut digits: Vec<u8> = Vec::with_capacity(self.digits.len() + 20);
        for digit in self.digits.iter().rev() {
            carry += u128::from(*digit) * u128::from(factor);
            digits.push(u8::try_from(carry % 10).unwrap_or(0));
            carry /= 10;
        }
        while carry > 0 {
            digits.push(u8::try_from(carry % 10).unwrap_or(0));
            carry /= 10;
        }
        digits.reverse();
        Decimal::normal(self.negative, digits, self.exponent)
    }

    /// Away from 0 to a multiple of `10^exponent`.
    pub(super) fn rounded_up(&self, exponent: i64) -> Decimal {
        let dropped = exponent - self.exponent;
        if dropped <= 0 || self.digits.is_empty() {
            return self.clone();
        }
        let kept = usize::try_from(count(self.digits.len()) - dropped).unwrap_or(0);
        // The last digit is not 0, so that something is dropped.
        let head = Decimal::normal(self.negative, self.digits.iter().take(kept).copied().collect(), exponent);
        let one = Decimal { negative: self.negative, digits: vec![1], exponent };
        head.plus(&one).unwrap_or(one)
    }

    /// `None` where the sum would have too many digits.
    pub(super) fn plus(&self, other: &Decimal) -> Option<Decimal> {
        if self.digits.is_empty() {
            return Some(other.clone());
        }
        if other.digits.is_empty() {
            return Some(self.clone());
        }
        let exponent = self.exponent.min(other.exponent);
        let width = self.magnitude().max(other.magnitude()) - exponent;
        if width > MAX_DIGITS {
            return None;
        }
        let (a, b) = (self.aligned(exponent, width), other.aligned(exponent, width));
        if self.negative == other.negative {
            return Some(Decimal::normal(self.negative, added(&a, &b), exponent));
        }
        Some(match a.cmp(&b) {
            Ordering::Less => Decimal::normal(other.negative, subtracted(&b, &a), exponent),
            _ => Decimal::normal(self.negative, subtracted(&a, &b), exponent),
        })
    }

    /// `width` digits of which the last weighs `10^exponent`.
    fn aligned(&self, exponent: i64, width: i64) -> Vec<u8> {
        let width = usize::try_from(width).unwrap_or(0);
        let after = usize::try_from(self.exponent - exponent).unwrap_or(0);
        let before = width.saturating_sub(after).saturating_sub(self.digits.len());
        let mut digits = vec![0; before];
        digits.extend(&self.digits);
        digits.resize(width, 0);
        digits
    }

    /// The nearest double of `self * 10^scale`.
    pub(super) fn to_double(&self, scale: i64) -> f64 {
        let sign = if self.negative { "-" } else { "" };
        format!(
            "{sign}{}e{}",
            if self.digits.is_empty() { "0".to_string() } else { text(&self.digits) },
            self.exponent + scale
        )
        .parse()
        .unwrap_or(f64::NAN)
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Decimal) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Decimal) -> Ordering {
        let by_sign = self.sign().cmp(&other.sign());
        if by_sign != Ordering::Equal || self.digits.is_empty() {
            return by_sign;
        }
        // Without trailing zeros, digits compare as fractions.
        let by_size = self.magnitude().cmp(&other.magnitude()).then_with(|| self.digits.cmp(&other.digits));
        if self.negative { by_size.reverse() } else { by_size }
    }
}

fn count(digits: usize) -> i64 {
    i64::try_from(digits).unwrap_or(i64::MAX)
}

/// Sum of two of the same width.
fn added(a: &[u8], b: &[u8]) -> Vec<u8> {
    let mut carry = 0;
    let mut sum: Vec<u8> = Vec::with_capacity(a.len() + 1);
    for (x, y) in a.iter().rev().zip(b.iter().rev()) {
        let digit = x + y + carry;
        sum.push(digit % 10);
        carry = digit / 10;
    }
    sum.push(carry);
    sum.reverse();
    sum
}

/// Difference of two of the same width, the first not being less.
fn subtracted(a: &[u8], b: &[u8]) -> Vec<u8> {
    let mut borrow = 0;
    let mut difference: Vec<u8> = Vec::with_capacity(a.len());
    for (x, y) in a.iter().rev().zip(b.iter().rev()) {
        let digit = 10 + x - y - borrow;
        difference.push(digit % 10);
        borrow = u8::from(digit < 10);
    }
    difference.reverse();
    difference
}

#[cfg(test)]
mod tests {
    use super::*;

    fn d(value: i64, exponent: i64) -> Decimal {
        Decimal::from_int(value, exponent)
    }

    #[test]
    fn sums_and_order() {
        assert_eq!(format!("{:?}", d(1000, 0)), "1e3");
        assert_eq!(d(15, -1).plus(&d(5, -1)), Some(d(2, 0)));
        assert_eq!(d(1, 3).plus(&d(-5, 0)), Some(d(995, 0)));
        assert_eq!(d(5, 0).plus(&d(-1, 3)), Some(d(-995, 0)));
        assert_eq!(d(1, 0).plus(&d(-1, 0)), Some(d(0, 0)));
        assert_eq!(d(1, i64::from(i32::MAX)).plus(&d(1, 0)), None);
        assert!(d(1, i64::from(i32::MAX)) > d(9, 18));
        assert!(d(-1, i64::from(i32::MAX)) < d(-9, 18));
        assert!(d(12, 0) < d(121, -1) && d(100, 0) > d(99, 0) && d(-2, 0) < d(-1, 0));
        assert_eq!(d(17, -1).times(1024), d(17408, -1));
        assert_eq!(d(1, -12).rounded_up(-9), d(1, -9));
        assert_eq!(d(-11, -10).rounded_up(-9), d(-2, -9));
    }
}
