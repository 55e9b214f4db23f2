//! A small harness for comparisons: what is compared runs in turns in one process, the medians are reported as ratios.
//!
//! In turns, because a machine's speed drifts: a ratio of neighbours is steadier than two figures of two runs.
//! Absent: statistics beyond the median; what is measured.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::result_large_err,
    reason = "a benchmark fails by panicking"
)]
use std::{
    hint::black_box,
    time::{Duration, Instant},
};

/// Turns of each contender.
const TURNS: usize = 15;
/// Time of one turn: long against the clock's resolution and a scheduler's slice.
const TURN: Duration = Duration::from_millis(40);

/// One contender: a name and one operation.
pub struct Contender<'a> {
    name: &'static str,
    run: Box<dyn FnMut() + 'a>,
}

impl<'a> Contender<'a> {
    /// An operation; what it returns is kept from the optimiser.
    pub fn new<T>(name: &'static str, mut operation: impl FnMut() -> T + 'a) -> Contender<'a> {
        Contender {
            name,
            run: Box::new(move || {
                black_box(operation());
            }),
        }
    }
}

/// Runs the contenders in turns and prints nanoseconds per operation, and how many times faster the first is than each
/// other. Returns the medians in nanoseconds.
pub fn compare(what: &str, mut contenders: Vec<Contender<'_>>) -> Vec<f64> {
    let counts: Vec<u32> = contenders.iter_mut().map(|c| calibrate(&mut c.run)).collect();
    let mut samples: Vec<Vec<f64>> = vec![Vec::with_capacity(TURNS); contenders.len()];
    for _ in 0..TURNS {
        for ((contender, count), samples) in contenders.iter_mut().zip(&counts).zip(&mut samples) {
            let start = Instant::now();
            for _ in 0..*count {
                (contender.run)();
            }
            samples.push(start.elapsed().as_secs_f64() * 1e9 / f64::from(*count));
        }
    }
    let medians: Vec<f64> = samples.iter_mut().map(|s| median(s)).collect();
    let first = medians.first().copied().unwrap_or(f64::NAN);
    let columns = contenders.iter().zip(&medians).enumerate().map(|(i, (contender, ns))| {
        let ratio = if i == 0 { String::new() } else { format!(" ({:.1}x)", ns / first) };
        format!("{} {}{ratio}", contender.name, human(*ns))
    });
    println!("{what:<44} {}", columns.collect::<Vec<_>>().join("   "));
    medians
}

/// How many operations fill a turn.
fn calibrate(run: &mut dyn FnMut()) -> u32 {
    let mut count = 1_u32;
    loop {
        let start = Instant::now();
        for _ in 0..count {
            run();
        }
        let taken = start.elapsed();
        if taken >= TURN / 4 || count >= 1 << 24 {
            let fill = TURN.as_secs_f64() / taken.as_secs_f64().max(1e-9) * f64::from(count);
            return fill.clamp(1.0, 1e8) as u32;
        }
        count *= 2;
    }
}

fn median(samples: &mut [f64]) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples.get(samples.len() / 2).copied().unwrap_or(f64::NAN)
}

fn human(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns:.1} ns"),
        ns if ns < 1e6 => format!("{:.2} us", ns / 1e3),
        ns => format!("{:.2} ms", ns / 1e6),
    }
}
