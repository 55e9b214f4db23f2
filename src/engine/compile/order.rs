//! The order in which sources and variables get their values: a DAG found from the expressions.
//!
//! Absent: expressions, types.
use std::collections::BTreeSet;

/// Who reads whom: `reads[i]` are the indexes that node `i` reads.
pub(crate) type Graph = Vec<BTreeSet<usize>>;

/// Every node after what it reads; among those that could be next, the author's first.
///
/// # Errors
/// One cycle: its nodes in order, each reading the next, the last reading the first.
pub(crate) fn order(graph: &Graph) -> Result<Vec<usize>, Vec<usize>> {
    let mut order = Vec::with_capacity(graph.len());
    let mut placed = vec![false; graph.len()];
    let is_placed = |placed: &[bool], i: usize| placed.get(i).copied().unwrap_or(true);
    while order.len() < graph.len() {
        let next = graph
            .iter()
            .enumerate()
            .find(|(i, reads)| !is_placed(&placed, *i) && reads.iter().all(|read| is_placed(&placed, *read)));
        let Some((next, _)) = next else {
            return Err(cycle(graph, &placed));
        };
        order.push(next);
        if let Some(place) = placed.get_mut(next) {
            *place = true;
        }
    }
    Ok(order)
}

/// Walks from the first node that has no place to one that it reads and that has none, until a node comes again.
fn cycle(graph: &Graph, placed: &[bool]) -> Vec<usize> {
    let open = |i: &usize| placed.get(*i) == Some(&false);
    let mut path: Vec<usize> = Vec::new();
    let mut at = (0..graph.len()).find(|i| open(i));
    while let Some(node) = at {
        if let Some(start) = path.iter().position(|seen| *seen == node) {
            return path.split_off(start);
        }
        path.push(node);
        at = graph.get(node).and_then(|reads| reads.iter().find(|i| open(i)).copied());
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(reads: &[&[usize]], expected: Result<&[usize], &[usize]>) {
        let graph: Graph = reads.iter().map(|r| r.iter().copied().collect()).collect();
        assert_eq!(order(&graph).as_deref().map_err(|cycle| &**cycle), expected);
    }

    #[test]
    fn authors_order_where_nothing_else_decides() {
        check(&[], Ok(&[]));
        check(&[&[], &[], &[]], Ok(&[0, 1, 2]));
        check(&[&[2], &[], &[1]], Ok(&[1, 2, 0]));
    }

    #[test]
    fn a_cycle_is_named_without_what_leads_to_it() {
        check(&[&[0]], Err(&[0]));
        check(&[&[1], &[2], &[1]], Err(&[1, 2]));
        check(&[&[], &[2, 0], &[3], &[1]], Err(&[1, 2, 3]));
    }
}
