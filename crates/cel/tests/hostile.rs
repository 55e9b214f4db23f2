//! Hostile texts: whatever is written, every phase ends, on a 2 MiB stack, without a panic, and takes memory in proportion to the
//! text. (How long each takes: `cargo run -p celandine-cel --example hostile`.)
//!
//! Absent: what the texts mean.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::result_large_err,
    unreachable_pub,
    reason = "tests fail by panicking"
)]
mod common;
#[path = "common/shapes.rs"]
#[allow(dead_code, reason = "the example uses more of it")]
mod shapes;

use allocation_counter::{AllocationInfo, measure};
use cel::{
    Ast, Env, EnvBuilder, Program, Type, Value, ast::NodeId, estimate::NoSizes, library, limits::MAX_ISSUES,
    program::Options,
};

fn env() -> Env {
    let libraries = library::all().into_iter().chain([library::blocks()]);
    let env = libraries.fold(Env::builder(), EnvBuilder::library).variable("a", Type::Dyn);
    env.escaped_identifiers(true).homogeneous_aggregates(true).build()
}

/// Allocations, and bytes of them, for each character of a text that a phase may make, beyond the fixed ones.
const ALLOCATIONS: u64 = 10;
const BYTES: u64 = 2_000;
const FIXED: u64 = 2_000_000;

/// Runs a phase, whose memory must be in proportion to the text.
fn phase<T>(name: &str, text: &str, run: impl FnOnce() -> T) -> T {
    let mut result = None;
    let AllocationInfo { count_total, bytes_total, .. } = measure(|| result = Some(run()));
    let length = text.len() as u64;
    let shown: String = text.chars().take(60).collect();
    assert!(
        count_total < ALLOCATIONS * length + FIXED / 100 && bytes_total < BYTES * length + FIXED,
        "{name} makes {count_total} allocations of {bytes_total} bytes for {length} bytes of text: {shown}"
    );
    result.unwrap()
}

/// Everything that can be done with a text; `true` if it is an expression.
fn exercise(env: &Env, text: &str) -> bool {
    let ast = match phase("parsing", text, || env.parse(text)) {
        Ok(ast) => ast,
        Err(issues) => {
            assert!(!issues.list.is_empty() && issues.list.len() <= MAX_ISSUES, "{} issues", issues.list.len());
            let _ = phase("rendering", text, || (issues.render(text), issues.to_string()));
            return false;
        }
    };
    children_come_first(&ast);
    let printed = phase("printing", text, || ast.to_string());
    // Parentheses that keep the shape of a chain may nest deeper than the text did.
    if let Ok(again) = env.parse(&printed) {
        assert!(again.is_same(&ast), "{text} is printed as {printed}");
    }
    if let Ok(program) = phase("planning unchecked", text, || env.program_unchecked(ast.clone())) {
        evaluate(&program, text);
    }
    match phase("checking", text, || env.check(ast)) {
        Ok(checked) => {
            let _ = phase("attributes", text, || checked.attributes());
            let _ = phase("the type", text, || checked.result_type().to_string());
            let cost = phase("estimating", text, || checked.estimate(env, &NoSizes).cost);
            assert!(cost.min <= cost.max, "{text} is estimated at {cost:?}");
            if let Ok(program) = phase("planning", text, || env.program(&checked)) {
                evaluate(&program, text);
            }
        }
        Err(issues) => {
            assert!(!issues.list.is_empty() && issues.list.len() <= MAX_ISSUES);
            let _ = phase("rendering", text, || (issues.render(text), issues.to_string()));
        }
    }
    true
}

/// What evaluation takes is bounded by the budget, not by the text.
fn evaluate(program: &Program, text: &str) {
    let variables = [Some(Value::from(vec![Value::Int(1)]))];
    let evaluation = program.evaluate(&variables[..], Options::default());
    let size = evaluation.result.map_or_else(|halt| format!("{halt:?}"), |value| value.to_string()).len();
    assert!(size < 100_000_000, "{text} gives {size} bytes");
}

fn children_come_first(ast: &Ast) {
    for (i, node) in ast.nodes().iter().enumerate() {
        node.kind.for_each_child(|NodeId(child)| assert!((child as usize) < i));
    }
}

fn try_all(shapes: impl FnOnce(&mut dyn FnMut(&str)) + Send + 'static) {
    common::on_small_stack(|| {
        let env = env();
        shapes(&mut |text| {
            exercise(&env, text);
        });
    });
}

#[test]
fn repetitions() {
    try_all(shapes::repetitions);
}

#[test]
fn chains() {
    try_all(|give| shapes::chains(&["a", "optional.of(1)", "{}"], give));
}

#[test]
fn nests() {
    try_all(shapes::nests);
}

#[test]
fn rows() {
    try_all(|give| shapes::rows(0, give));
}

#[test]
fn more_rows() {
    try_all(|give| shapes::rows(1, give));
}

#[test]
fn differing_parts() {
    try_all(shapes::differing);
}

/// The same pieces in the same random order each time.
#[test]
fn token_soup() {
    common::on_small_stack(|| {
        let env = env();
        let tokens = [
            "a", "b", "1", "2u", "0.5", "'s'", "b'x'", "true", "null", "in", "(", ")", "[", "]", "{", "}", ".", ",",
            ":", "?", "+", "-", "!", "&&", "||", "==", "<", "*", "has", "all", "map", "optMap", "cel", "bind", "block",
            "index", "`c-d`", "=", "#", "\n", " ", "if",
        ];
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let mut below = |n: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state % n as u64).unwrap()
        };
        let mut expressions = 0;
        for _ in 0..20_000 {
            let text: String = (0..below(16) + 1).map(|_| tokens[below(tokens.len())]).collect::<Vec<_>>().join(" ");
            expressions += usize::from(exercise(&env, &text));
        }
        assert!(expressions > 300, "only {expressions} were expressions");
    });
}
