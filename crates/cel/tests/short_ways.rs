//! The short ways of evaluation give what the long ones give, cost what they cost, and stop where they stop: with a recorder
//! evaluation goes the long ways only, so the two are compared, at every budget.
//!
//! Absent: what is right (vectors, conformance), random expressions (laws).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::result_large_err,
    unreachable_pub,
    reason = "tests fail by panicking"
)]
use cel::{
    Env, Program, Type, Value,
    ast::NodeId,
    eval::Evaluation,
    library,
    program::{Options, Recorder},
};

/// Over variables of a known type and over the same that are `dyn`.
const ROWS: &[&str] = &[
    // What is appended in a loop.
    "mixed.map(m, m)",
    "mixed.map(m, -m)",
    "mixed.map(m, m + 1)",
    "mixed.map(m, 1.0 + m)",
    "mixed.map(m, size(m))",
    "mixed.map(m, [m, m])",
    "mixed.map(m, ints[m])",
    "ints.map(i, 7)",
    "ints.map(i, -i * 2 + i % 3 - 1)",
    "ints.map(i, 9 / i)",
    "ints.map(i, i + 9223372036854775800)",
    "ints.map(i, -(i - 9223372036854775807 - 1))",
    "ints.map(i, i > 2, i * 2)",
    "ints.map(i, ints.map(j, i * j).sum())",
    "doubles.map(d, -(d + 1.0) * d / 0.5)",
    "doubles.map(d, d % 2.0)",
    "objects.map(o, o.key)",
    "objects.map(o, o.nothing)",
    "objects.map(o, o.?nothing)",
    "objects.map(o, o.size + o.key)",
    "[[1, 2], [3]].map(l, -size(l))",
    "{'a': 1, 'b': 2}.map(k, -k)",
    "ints.transformList(i, v, -v * i)",
    // Conditions.
    "mixed.filter(m, m + 1 > 1)",
    "mixed.filter(m, m <= 'b')",
    "doubles.filter(d, d < 1.0)",
    "objects.filter(o, o.key >= 'b' && o.key < 'ccccccccccccccccccccccc')",
    "ints.all(i, -i <= 0) && ints.exists(i, i * 2 == 18)",
    // Sorted, and gone through in order.
    "ints.sort()",
    "texts.sort()",
    "doubles.sort()",
    "mixed.sort()",
    "ints.sortBy(i, -i)",
    "ints.sortBy(i, -i).map(i, i + 1)",
    "ints.sortBy(i, -i).sortBy(i, i % 3).map(i, i)",
    "ints.sortBy(i, -i).filter(i, i > 2).map(i, i)",
    "ints.sortBy(i, 1 / i).map(i, i)",
    "ints.sortBy(i, i).map(i, 1 / (i - 5))",
    "ints.sortBy(i, [i]).map(i, i)",
    "ints.sortBy(i, i > 3).map(i, i)",
    "ints.sortBy(i, -i).transformList(i, v, i * v)",
    "ints.sortBy(i, -i).transformMap(i, v, i * v)",
    "ints.sortBy(i, -i).exists_one(i, i == 9)",
    "ints.map(x, ints.sortBy(i, (i + x) % 3).map(i, i * x))",
    "cel.bind(z, ints.sortBy(i, -i), z.map(i, i) + z.map(i, -i))",
    "doubles.sortBy(d, d).map(d, d)",
    "texts.sortBy(t, t).map(t, t)",
    "texts.sortBy(t, size(t)).map(t, t)",
    "mixed.sortBy(m, m).map(m, m)",
    "objects.sortBy(o, o.size).map(o, o.key).slice(0, 2)",
    "objects.sortBy(o, o.nothing).map(o, o.key)",
    "object.sortBy(k, k).map(k, k)",
    "[].sortBy(i, i).map(i, i)",
    // Sums.
    "ints.map(i, i).sum()",
    "ints.map(i, 9223372036854775807).sum()",
    "doubles.map(d, d).sum()",
    "texts.map(t, duration('1s')).sum()",
    "mixed.map(m, m).sum()",
    "objects.map(o, o.size * 2).max()",
];

struct Watcher;

impl Recorder for Watcher {
    fn evaluated(&mut self, _: NodeId) {}
    fn decided(&mut self, _: NodeId, _: bool) {}
}

fn variables() -> Vec<(&'static str, Type, Value)> {
    let value = |text: &str| {
        let env = Env::standard().build();
        env.program(&env.compile(text).unwrap()).unwrap().evaluate(&[][..], Options::default()).result.unwrap()
    };
    vec![
        ("ints", Type::list(Type::Int), value("[5, 3, 0, 9, 2, 2, 7]")),
        ("doubles", Type::list(Type::Double), value("[2.5, -1.0, 0.0, -0.0, 7.25, double('nan')]")),
        ("texts", Type::list(Type::String), value("['b', 'a text of more than ten bytes', 'ccc', '', 'äö']")),
        ("mixed", Type::list(Type::Dyn), value("[dyn(1), 'a', 2.5, null, [1], {'a': 1}, true, -3, 2u]")),
        ("objects", Type::list(Type::Dyn), value("[{'key': 'b', 'size': 2}, {'key': 'a', 'size': 1}]")),
        ("object", Type::Dyn, value("{'key': 'b', 'size': 2}")),
    ]
}

fn env(typed: bool) -> Env {
    let env = library::all().into_iter().fold(Env::builder(), cel::EnvBuilder::library);
    let variables = variables().into_iter().map(|(name, ty, _)| (name, if typed { ty } else { Type::Dyn }));
    variables.fold(env, |env, (name, ty)| env.variable(name, ty)).build()
}

fn run(program: &Program, values: &[Option<Value>], budget: u64, watched: bool) -> Evaluation {
    let mut watcher = Watcher;
    let recorder = watched.then_some(&mut watcher as &mut dyn Recorder);
    program.evaluate(values, Options { budget, recorder, ..Options::default() })
}

/// As comparable text: NaN is NaN.
fn shown(evaluation: &Evaluation) -> String {
    format!("{:?} at {}", evaluation.result.as_ref().map(ToString::to_string), evaluation.cost)
}

#[test]
fn short_ways_are_alike_at_every_budget() {
    let values: Vec<_> = variables().into_iter().map(|(_, _, value)| Some(value)).collect();
    let mut compared = 0;
    for env in [env(true), env(false)] {
        for row in ROWS {
            // What the checker refuses is dispatched by value.
            let program = match env.compile(row) {
                Ok(checked) => env.program(&checked),
                Err(_) => env.program_unchecked(env.parse(row).unwrap()),
            };
            let program = program.unwrap_or_else(|issues| panic!("{row}: {issues}"));
            let whole = run(&program, &values, u64::MAX, true).cost;
            for budget in 0..=whole {
                let (long, short) = (run(&program, &values, budget, true), run(&program, &values, budget, false));
                assert_eq!(shown(&long), shown(&short), "{row} with a budget of {budget}");
                compared += 1;
            }
        }
    }
    assert!(compared > 10_000, "{compared}");
}
