//! What is said about expressions that may cost more than they may.
//!
//! Absent: the estimate (cel), what is known of sizes (schema::sizes, compile::sizes).

/// The remedy that Kubernetes names.
pub(crate) const REMEDY: &str =
    "simplify it, or add maxItems, maxProperties and maxLength where lists, maps and strings are declared";

/// What is wrong with an estimated cost, in Kubernetes' words.
pub(crate) fn excess(cost: u64, budget: u64) -> Option<String> {
    (cost > budget).then(|| format!("estimated cost exceeds the budget by a factor of {}", factor(cost, budget)))
}

#[expect(clippy::cast_precision_loss, reason = "it is shown with a few digits")]
fn factor(cost: u64, budget: u64) -> String {
    let factor = cost as f64 / budget as f64;
    if factor > 100.0 {
        "more than 100x".to_owned()
    } else if factor < 1.5 {
        format!("{factor:.6}x")
    } else {
        format!("{factor:.1}x")
    }
}

#[cfg(test)]
mod tests {
    use super::excess;

    #[test]
    fn factors_are_worded_as_in_kubernetes() {
        let said = |cost| excess(cost, 1_000_000).map(|text| text.rsplit("of ").next().unwrap_or("").to_owned());
        assert_eq!(said(1_000_000), None);
        assert_eq!(said(1_000_001).as_deref(), Some("1.000001x"));
        assert_eq!(said(12_340_000).as_deref(), Some("12.3x"));
        assert_eq!(said(100_000_000).as_deref(), Some("100.0x"));
        assert_eq!(said(u64::MAX).as_deref(), Some("more than 100x"));
    }
}
