//! Who gets the next seat: a state machine without clocks, threads or sockets.
//!
//! Each flow has a queue, first come first served; flows that wait take turns. A flow may hold fewer seats than are free
//! (Choudhury and Hahne's dynamic threshold for shared memory, 1998): a lone greedy flow gets half of the seats, k greedy
//! ones 1/(k+1) each, and a share is always free for whoever comes next. That share is what keeps a quiet flow's wait
//! short where the greedy one's requests are slow, which taking turns alone does not.
//!
//! INVARIANTS: `used` is the sum of the flows' seats and never above `bounds.seats`; `queued` is the sum of their queues;
//! `turns` holds each flow with a queue once; flows without seats and queue are forgotten; whoever waits may not have a
//! seat yet (upheld by calling `next` until it gives nothing after each `release` and `cancel`).
use std::{
    collections::{HashMap, VecDeque},
    hash::{BuildHasherDefault, Hasher},
};

use super::{Bounds, Flow};

/// Identifies one who waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Ticket(u64);

/// What becomes of one who arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// It has a seat.
    Seated,
    /// It waits.
    Queued(Ticket),
    /// There is no room to wait.
    Refused,
}

/// Seats, and who waits for them.
#[derive(Debug)]
pub(super) struct Scheduler {
    bounds: Bounds,
    flows: HashMap<Flow, Line, BuildHasherDefault<Hashed>>,
    turns: VecDeque<Flow>,
    used: usize,
    queued: usize,
    next: u64,
}

/// A flow is a hash of a key that nobody knows; it takes no other.
#[derive(Debug, Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn write_u64(&mut self, flow: u64) {
        self.0 = flow;
    }

    fn write(&mut self, bytes: &[u8]) {
        // A flow is one number.
        self.0 = bytes.iter().fold(self.0, |hash, byte| (hash << 8) | u64::from(*byte));
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// One flow.
#[derive(Debug, Default)]
struct Line {
    used: usize,
    waiting: VecDeque<Ticket>,
}

impl Scheduler {
    pub(super) fn new(bounds: Bounds) -> Scheduler {
        Scheduler { bounds, flows: HashMap::default(), turns: VecDeque::new(), used: 0, queued: 0, next: 0 }
    }

    /// One of a flow wants a seat.
    pub(super) fn arrive(&mut self, flow: Flow) -> Arrival {
        let free = self.bounds.seats.saturating_sub(self.used);
        let (used, waiting) = self.flows.get(&flow).map_or((0, 0), |line| (line.used, line.waiting.len()));
        if waiting == 0 && used < free {
            self.flows.entry(flow).or_default().used += 1;
            self.used += 1;
            return Arrival::Seated;
        }
        if waiting >= self.bounds.queue_per_flow || self.queued >= self.bounds.queue {
            return Arrival::Refused;
        }
        let ticket = Ticket(self.next);
        self.next = self.next.wrapping_add(1);
        self.queued += 1;
        self.flows.entry(flow).or_default().waiting.push_back(ticket);
        if waiting == 0 {
            self.turns.push_back(flow);
        }
        Arrival::Queued(ticket)
    }

    /// One gives its seat back.
    pub(super) fn release(&mut self, flow: Flow) {
        let Some(line) = self.flows.get_mut(&flow) else { return };
        line.used = line.used.saturating_sub(1);
        self.used = self.used.saturating_sub(1);
        self.forget_if_idle(flow);
    }

    /// One leaves the queue; false if it was not in it.
    pub(super) fn cancel(&mut self, flow: Flow, ticket: Ticket) -> bool {
        let Some(line) = self.flows.get_mut(&flow) else { return false };
        let Some(at) = line.waiting.iter().position(|waiting| *waiting == ticket) else { return false };
        line.waiting.remove(at);
        self.queued -= 1;
        if line.waiting.is_empty() {
            self.turns.retain(|turn| *turn != flow);
        }
        self.forget_if_idle(flow);
        true
    }

    /// Gives one who waits a seat, if there is a seat for anyone.
    pub(super) fn next(&mut self) -> Option<Ticket> {
        for _ in 0..self.turns.len() {
            let free = self.bounds.seats.saturating_sub(self.used);
            if free == 0 {
                return None;
            }
            let flow = self.turns.pop_front()?;
            let Some(line) = self.flows.get_mut(&flow) else { continue };
            let ticket = if line.used < free { line.waiting.pop_front() } else { None };
            if !line.waiting.is_empty() {
                self.turns.push_back(flow);
            }
            if let Some(ticket) = ticket {
                line.used += 1;
                self.used += 1;
                self.queued -= 1;
                return Some(ticket);
            }
        }
        None
    }

    fn forget_if_idle(&mut self, flow: Flow) {
        if self.flows.get(&flow).is_some_and(|line| line.used == 0 && line.waiting.is_empty()) {
            self.flows.remove(&flow);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(seats: usize, queue_per_flow: usize, queue: usize) -> Bounds {
        Bounds { seats, queue_per_flow, queue, ..Bounds::default() }
    }

    /// Flows `a` to `z`.
    fn flow(name: char) -> Flow {
        Flow(u64::from(u32::from(name)))
    }

    /// What becomes of arrivals: `S`eated, `Q`ueued, `R`efused.
    fn arrive(scheduler: &mut Scheduler, flows: &str) -> String {
        let outcome = |arrival| match arrival {
            Arrival::Seated => 'S',
            Arrival::Queued(_) => 'Q',
            Arrival::Refused => 'R',
        };
        flows.chars().map(|name| outcome(scheduler.arrive(flow(name)))).collect()
    }

    #[test]
    fn a_lone_flow_leaves_half_of_the_seats() {
        let mut scheduler = Scheduler::new(bounds(8, 2, 100));
        assert_eq!(arrive(&mut scheduler, "aaaaaaaa"), "SSSSQQRR");
        // Whoever comes next is seated at once, and leaves some too.
        assert_eq!(arrive(&mut scheduler, "bbbb"), "SSQQ");
        assert_eq!(arrive(&mut scheduler, "cc"), "SQ");
        assert_eq!(arrive(&mut scheduler, "d"), "S");
        assert_eq!(arrive(&mut scheduler, "e"), "Q");
    }

    #[test]
    fn flows_take_turns() {
        // With 2 seats each flow has at most one.
        let mut scheduler = Scheduler::new(bounds(2, 10, 100));
        assert_eq!(arrive(&mut scheduler, "za"), "SS");
        let mut names = HashMap::new();
        for name in "aaaabbcz".chars() {
            let Arrival::Queued(ticket) = scheduler.arrive(flow(name)) else { panic!("{name} is queued") };
            names.insert(ticket, name);
        }
        let mut seated = vec!['z', 'a'];
        let mut order = String::new();
        while !seated.is_empty() {
            scheduler.release(flow(seated.remove(0)));
            while let Some(ticket) = scheduler.next() {
                order.push(names[&ticket]);
                seated.push(names[&ticket]);
            }
        }
        assert_eq!(order, "bczabaaa");
        assert!(scheduler.flows.is_empty() && scheduler.turns.is_empty());
    }

    #[test]
    fn queues_are_bounded_for_each_and_for_all() {
        let mut scheduler = Scheduler::new(bounds(1, 2, 3));
        assert_eq!(arrive(&mut scheduler, "aaaabbb"), "SQQRQRR");
        assert_eq!(scheduler.queued, 3);
    }

    #[test]
    fn who_leaves_the_queue_is_forgotten() {
        let mut scheduler = Scheduler::new(bounds(1, 2, 3));
        assert_eq!(scheduler.arrive(flow('a')), Arrival::Seated);
        let Arrival::Queued(ticket) = scheduler.arrive(flow('b')) else { panic!() };
        assert!(scheduler.cancel(flow('b'), ticket));
        assert!(!scheduler.cancel(flow('b'), ticket));
        scheduler.release(flow('a'));
        assert_eq!(scheduler.next(), None);
        assert!(scheduler.flows.is_empty() && scheduler.turns.is_empty());
        assert_eq!((scheduler.used, scheduler.queued), (0, 0));
    }

    /// Any sequence keeps the invariants, and nobody waits who may have a seat.
    #[test]
    fn invariants_hold_over_random_sequences() {
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        let mut draw = |n: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random % n
        };
        for _ in 0..200 {
            let bounds = bounds(1 + draw(6) as usize, draw(4) as usize, draw(8) as usize);
            let mut scheduler = Scheduler::new(bounds);
            let mut seated: Vec<Flow> = vec![];
            let mut waiting: Vec<(Flow, Ticket)> = vec![];
            for _ in 0..300 {
                match draw(5) {
                    0..=2 => {
                        let flow = Flow(draw(4));
                        match scheduler.arrive(flow) {
                            Arrival::Seated => seated.push(flow),
                            Arrival::Queued(ticket) => waiting.push((flow, ticket)),
                            Arrival::Refused => {}
                        }
                    }
                    3 if !seated.is_empty() => {
                        let at = draw(seated.len() as u64) as usize;
                        scheduler.release(seated.swap_remove(at));
                    }
                    4 if !waiting.is_empty() => {
                        let at = draw(waiting.len() as u64) as usize;
                        let (flow, ticket) = waiting.swap_remove(at);
                        assert!(scheduler.cancel(flow, ticket));
                    }
                    _ => {}
                }
                while let Some(ticket) = scheduler.next() {
                    let at = waiting.iter().position(|(_, t)| *t == ticket).unwrap();
                    let (flow, _) = waiting.remove(at);
                    assert!(!waiting.iter().any(|(f, t)| *f == flow && t.0 < ticket.0), "first come, first served");
                    seated.push(flow);
                }
                assert_eq!(scheduler.used, seated.len());
                assert_eq!(scheduler.queued, waiting.len());
                assert!(scheduler.used <= bounds.seats && scheduler.queued <= bounds.queue);
                let free = bounds.seats - scheduler.used;
                for (flow, _) in &waiting {
                    let used = seated.iter().filter(|f| *f == flow).count();
                    assert!(used >= free, "a flow waits that may have a seat");
                    assert_eq!(scheduler.turns.iter().filter(|turn| *turn == flow).count(), 1);
                }
                let active: std::collections::HashSet<Flow> =
                    seated.iter().copied().chain(waiting.iter().map(|(f, _)| *f)).collect();
                assert_eq!(scheduler.flows.len(), active.len());
            }
        }
    }
}
