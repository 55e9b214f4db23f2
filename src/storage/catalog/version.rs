//! The order of versions: which one Kubernetes prefers.
//!
//! Absent: anything else about versions.
use std::cmp::Ordering;

/// The preferred version first: `v2`, `v1`, `v1beta2`, `v1beta1`, `v1alpha1`, then the others by name.
pub fn version_order(a: &str, b: &str) -> Ordering {
    match (parse(a), parse(b)) {
        (Some(a), Some(b)) => b.cmp(&a),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

/// (maturity, major, minor); the greater is preferred.
fn parse(version: &str) -> Option<(u8, u64, u64)> {
    let rest = version.strip_prefix('v')?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (major, rest) = rest.split_at(digits);
    let number = |text: &str| if text.starts_with('0') { None } else { text.parse::<u64>().ok() };
    let major = number(major)?;
    if rest.is_empty() {
        return Some((2, major, 0));
    }
    let (maturity, minor) =
        rest.strip_prefix("beta").map(|minor| (1, minor)).or(rest.strip_prefix("alpha").map(|minor| (0, minor)))?;
    minor.bytes().all(|c| c.is_ascii_digit()).then_some(())?;
    Some((maturity, major, number(minor)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefers_as_kubernetes_does() {
        let mut versions =
            ["foo10", "v1alpha1", "v11alpha2", "v3beta1", "v10beta3", "v11beta2", "v1", "v2", "v10", "foo1"];
        versions.sort_by(|a, b| version_order(a, b));
        let expected = ["v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v11alpha2", "v1alpha1", "foo1", "foo10"];
        assert_eq!(versions, expected);
    }
}
