//! The order in which sources and variables get their values: a DAG found from the expressions.
//!
//! Absent: expressions, types.
use std::collections::BTreeSet;

/// Who reads whom: `reads[i]` are the indexes that node `i` reads.
pub(crate) type Graph = Vec<BTreeSet<usize>>;

/// The order, and what there is none for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Order {
    /// All nodes, each after what it reads, but for those of cycles.
    pub(crate) order: Vec<usize>,
    /// The nodes of each cycle in order, each reading the next, the last reading the first.
    pub(crate) cycles: Vec<Vec<usize>>,
}

/// Every node after what it reads; among those that could be next, the author's first. A cycle is broken where it is found, so
/// that what follows has an order too.
pub(crate) fn order(graph: &Graph) -> Order {
    let mut order = Vec::with_capacity(graph.len());
    let mut cycles = Vec::new();
    let mut placed = vec![false; graph.len()];
    let is_placed = |placed: &[bool], i: usize| placed.get(i).copied().unwrap_or(true);
    while order.len() < graph.len() {
        let next = graph
            .iter()
            .enumerate()
            .find(|(i, reads)| !is_placed(&placed, *i) && reads.iter().all(|read| is_placed(&placed, *read)));
        let next = match next {
            Some((next, _)) => vec![next],
            None => {
                let cycle = cycle(graph, &placed);
                cycles.push(cycle.clone());
                cycle
            }
        };
        for node in next {
            order.push(node);
            if let Some(place) = placed.get_mut(node) {
                *place = true;
            }
        }
    }
    Order { order, cycles }
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
    fn check(reads: &[&[usize]], expected: &[usize], cycles: &[&[usize]]) {
        let graph: Graph = reads.iter().map(|r| r.iter().copied().collect()).collect();
        let cycles = cycles.iter().map(|cycle| cycle.to_vec()).collect();
        assert_eq!(order(&graph), Order { order: expected.to_vec(), cycles });
    }

    #[test]
    fn authors_order_where_nothing_else_decides() {
        check(&[], &[], &[]);
        check(&[&[], &[], &[]], &[0, 1, 2], &[]);
        check(&[&[2], &[], &[1]], &[1, 2, 0], &[]);
    }

    #[test]
    fn a_cycle_is_named_without_what_leads_to_it() {
        check(&[&[0]], &[0], &[&[0]]);
        check(&[&[1], &[2], &[1]], &[1, 2, 0], &[&[1, 2]]);
        check(&[&[], &[2, 0], &[3], &[1]], &[0, 1, 2, 3], &[&[1, 2, 3]]);
    }

    #[test]
    fn every_cycle_is_named_and_the_rest_has_its_order() {
        check(&[&[1], &[0], &[3], &[2], &[4], &[2, 5], &[]], &[6, 0, 1, 2, 3, 4, 5], &[&[0, 1], &[2, 3], &[4], &[5]]);
    }
}
