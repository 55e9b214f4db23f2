//! How long each phase takes with hostile texts of 100 KB: `cargo run -p celandine-cel --example hostile [ms] [part]`, in a debug
//! build.
//!
//! Prints what takes longer than the given milliseconds (30), of texts that contain the given part, and the longest of each phase.
//! `answer` is all that stands between a text and its value: parsing, checking, planning, evaluating. Times are the thread's own
//! on a processor, as Linux counts them, so that a loaded machine does not matter.
//!
//! Absent: that the phases end at all and give what is right (tests/hostile.rs).
#![allow(clippy::result_large_err, unreachable_pub, reason = "the shapes are those of the tests")]
use std::{collections::BTreeMap, time::Instant};

use cel::{Env, EnvBuilder, Type, Value, estimate::NoSizes, library, program::Options};

#[path = "../tests/common/shapes.rs"]
mod shapes;

/// The stack that the language promises to manage with.
const STACK: usize = 2 << 20;

fn main() {
    let limit = std::env::args().nth(1).and_then(|limit| limit.parse().ok()).unwrap_or(30.0);
    let part = std::env::args().nth(2).unwrap_or_default();
    let measure = move || {
        let mut table = Table { limit, longest: BTreeMap::new(), answer: 0.0 };
        let env = env();
        let mut give = |text: &str| {
            if text.contains(&part) {
                exercise(&mut table, &env, text);
            }
        };
        shapes::repetitions(&mut give);
        shapes::chains(shapes::STARTS, &mut give);
        shapes::nests(&mut give);
        (0..2).for_each(|half| shapes::rows(half, &mut give));
        shapes::differing(&mut give);
        for (phase, (ms, text)) in &table.longest {
            println!("longest {phase}: {ms:.1} ms, {text}");
        }
    };
    let ended = std::thread::Builder::new().stack_size(STACK).spawn(measure).map(std::thread::JoinHandle::join);
    assert!(matches!(ended, Ok(Ok(()))), "it did not end well");
}

fn env() -> Env {
    let libraries = library::all().into_iter().chain([library::blocks()]);
    let env = libraries.fold(Env::builder(), EnvBuilder::library).variable("a", Type::Dyn);
    env.escaped_identifiers(true).homogeneous_aggregates(true).build()
}

struct Table {
    limit: f64,
    longest: BTreeMap<&'static str, (f64, String)>,
    /// Milliseconds to the answer to the current text, so far.
    answer: f64,
}

impl Table {
    fn time<T>(&mut self, phase: &'static str, text: &str, run: impl FnOnce() -> T) -> T {
        let start = Clock::now();
        let result = run();
        let ms = start.elapsed_ms();
        self.note(phase, text, ms);
        if matches!(phase, "parse" | "check" | "plan" | "evaluate" | "render") {
            self.answer += ms;
        }
        result
    }

    fn note(&mut self, phase: &'static str, text: &str, ms: f64) {
        let shown =
            || format!("{} ... ({} bytes)", text.chars().take(60).collect::<String>().escape_debug(), text.len());
        if ms > self.limit {
            println!("{ms:8.1} ms  {phase:12} {}", shown());
        }
        if self.longest.get(phase).is_none_or(|(longest, _)| *longest < ms) {
            self.longest.insert(phase, (ms, shown()));
        }
    }
}

/// Everything that can be done with a text.
fn exercise(table: &mut Table, env: &Env, text: &str) {
    table.answer = 0.0;
    phases(table, env, text);
    table.note("answer", text, table.answer);
}

fn phases(table: &mut Table, env: &Env, text: &str) {
    let ast = match table.time("parse", text, || env.parse(text)) {
        Ok(ast) => ast,
        Err(issues) => return drop(table.time("render", text, || (issues.render(text), issues.to_string()))),
    };
    table.time("print", text, || ast.to_string());
    table.time("plan unchecked", text, || drop(env.program_unchecked(ast.clone())));
    let checked = match table.time("check", text, || env.check(ast)) {
        Ok(checked) => checked,
        Err(issues) => return drop(table.time("render", text, || (issues.render(text), issues.to_string()))),
    };
    table.time("attributes", text, || checked.attributes());
    table.time("type", text, || checked.result_type().to_string());
    table.time("estimate", text, || checked.estimate(env, &NoSizes));
    match table.time("plan", text, || env.program(&checked)) {
        Ok(program) => run(table, text, program),
        Err(issues) => drop(table.time("render", text, || (issues.render(text), issues.to_string()))),
    }
    table.time("drop checked", text, || drop(checked));
}

fn run(table: &mut Table, text: &str, program: cel::Program) {
    let variables = [Some(Value::from(vec![Value::Int(1)]))];
    let evaluation = table.time("evaluate", text, || program.evaluate(&variables[..], Options::default()));
    if let Ok(value) = &evaluation.result {
        table.time("print value", text, || value.to_string());
    }
    table.time("drop value", text, || drop(evaluation));
    table.time("drop program", text, || drop(program));
}

/// The thread's time on a processor; by the wall where Linux does not tell it.
enum Clock {
    Processor(u64),
    Wall(Instant),
}

impl Clock {
    fn now() -> Clock {
        processor_ns().map_or_else(|| Clock::Wall(Instant::now()), Clock::Processor)
    }

    fn elapsed_ms(&self) -> f64 {
        match self {
            Clock::Processor(start) => (processor_ns().unwrap_or(*start) - start) as f64 / 1e6,
            Clock::Wall(start) => start.elapsed().as_secs_f64() * 1e3,
        }
    }
}

fn processor_ns() -> Option<u64> {
    std::fs::read_to_string("/proc/thread-self/schedstat").ok()?.split(' ').next()?.parse().ok()
}
