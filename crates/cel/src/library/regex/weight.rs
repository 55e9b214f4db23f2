//! How much a pattern is to compile, told before it is compiled: about 50 ns and 25 bytes a unit.
//!
//! Absent: what is done with it.
use regex_syntax::hir::{Class, Hir, HirKind};

/// A range of a class beyond ASCII, which becomes a small automaton of bytes in both directions.
pub(super) const RANGE: u64 = 10;

/// A class that has such ranges.
const CLASS: u64 = 20;

/// The weight of a pattern. Finding its groups takes places for both ends of each, for each of its states.
pub(super) fn with_groups(hir: &Hir) -> u64 {
    let groups = hir.properties().explicit_captures_len() as u64;
    of(hir).saturating_mul(1 + 2 * groups)
}

/// The weight but for the groups. Recursion is as deep as groups nest, which the parser bounds.
fn of(hir: &Hir) -> u64 {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => literal.0.len() as u64,
        HirKind::Class(Class::Unicode(class)) if class.is_ascii() => 1 + class.ranges().len() as u64,
        HirKind::Class(Class::Unicode(class)) => CLASS + RANGE * class.ranges().len() as u64,
        HirKind::Class(Class::Bytes(class)) => 1 + class.ranges().len() as u64,
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min.saturating_add(1)).max(1);
            of(&repetition.sub).saturating_add(1).saturating_mul(times.into())
        }
        HirKind::Capture(capture) => of(&capture.sub).saturating_add(2),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().fold(1, |sum: u64, part| sum.saturating_add(of(part)))
        }
    }
}
