//! Evaluation without the checker: meaning, absorption, unknowns, stack and memory bounds.
//!
//! Absent: costs and wordings of Kubernetes (the vectors), conformance (cel-spec).
mod folds;

use std::sync::Arc;

use super::*;
use crate::{
    Env, Type, Value,
    eval::{Bound, ErrorKind, Halt},
    value::Map,
};

fn env() -> Env {
    let mut env = [
        crate::library::optionals(),
        crate::library::bindings(),
        crate::library::comprehensions(),
        crate::library::lists(),
    ]
    .into_iter()
    .fold(Env::standard(), crate::EnvBuilder::library);
    for name in ["x", "s", "l", "m", "u", "v"] {
        env = env.variable(name, Type::Dyn);
    }
    env.build()
}

/// `x = 7`, `s = 'abc'`, `l = [1, 2, 3]`, `m = {'a': {'b': 1}, 'l': [1, 2]}`; `u` and `v` are unknowns 1 and 2.
struct Variables([Value; 4], [Halt; 2]);

impl Variables {
    fn new() -> Variables {
        let inner: Map = [("b", Value::Int(1))].into_iter().collect();
        let list = Value::from(vec![Value::Int(1), Value::Int(2)]);
        let map: Map = [("a", Value::Map(inner)), ("l", list)].into_iter().collect();
        let numbers = Value::from(vec![Value::Int(1), Value::Int(2), Value::Int(3)]);
        Variables([Value::Int(7), "abc".into(), numbers, Value::Map(map)], [Halt::unknown(1), Halt::unknown(2)])
    }
}

impl Activation for Variables {
    fn variable(&self, slot: u32) -> Bound<'_> {
        match (self.0.get(slot as usize), self.1.get((slot as usize).saturating_sub(4))) {
            (Some(value), _) => Bound::Value(value),
            (None, Some(halt)) => Bound::Halt(halt),
            _ => Bound::Absent,
        }
    }
}

#[track_caller]
fn plan(text: &str) -> Program {
    let env = env();
    let ast = env.parse(text).unwrap_or_else(|e| panic!("{text}: {e}"));
    env.program_unchecked(ast).unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// Evaluates, with and without a recorder, which must not matter, and compares what it hears with what it could.
#[track_caller]
fn run(text: &str) -> Result<Value, Halt> {
    let program = plan(text);
    let evaluation = program.evaluate(&Variables::new(), Options::default());
    let mut heard = Heard::default();
    let options = Options { recorder: Some(&mut heard), ..Options::default() };
    let recorded = program.evaluate(&Variables::new(), options);
    assert_eq!((&evaluation.result, evaluation.cost), (&recorded.result, recorded.cost), "{text}");
    let points = program.points();
    assert!(heard.evaluated.iter().all(|node| points.evaluated.contains(node)), "{text}");
    assert!(heard.decided.iter().all(|node| points.decided.contains(node)), "{text}");
    evaluation.result
}

#[derive(Default)]
struct Heard {
    evaluated: Vec<NodeId>,
    decided: Vec<NodeId>,
}

impl Recorder for Heard {
    fn evaluated(&mut self, node: NodeId) {
        if !self.evaluated.contains(&node) {
            self.evaluated.push(node);
        }
    }
    fn decided(&mut self, node: NodeId, _outcome: bool) {
        self.decided.push(node);
    }
}

#[track_caller]
fn check(text: &str, want: &str) {
    let got = match run(text) {
        Ok(value) => value.to_string(),
        Err(Halt::Error(error)) => format!("error: {error}"),
        Err(Halt::Unknown(unknowns)) => format!("unknown: {:?}", unknowns.0),
    };
    assert_eq!(got, want, "{text}");
}

#[test]
fn attributes_walk_maps_and_lists() {
    check("m.a.b", "1");
    check("m['a']['b']", "1");
    check("l[x - 5]", "3");
    check("l[1u] + l[0.0]", "3");
    check("m.missing", "error: no such key: missing");
    check("m.a.b.c", "error: no such key: c");
    check("l[3]", "error: index out of bounds: 3");
    check("l[-1]", "error: index out of bounds: -1");
    check("l['a']", "error: unsupported index type 'string' in list");
    check("has(m.a.b) && !has(m.a.c)", "true");
    check("has(m.z.c)", "error: no such key: z");
    check("{'a': [{'b': 2}]}.a[0].b", "2");
    check("(x > 1 ? m : l).a.b", "1");
    check("nowhere", "error: no such attribute(s): nowhere");
}

#[test]
fn optional_chains_stop_at_what_is_absent() {
    check("m.?a.b", "optional.of(1)");
    check("m.?z.b.c", "optional.none()");
    check("m.?z.orValue(5)", "5");
    check("m[?'a'].?b.value()", "1");
    check("l[?7].hasValue()", "false");
    check("m.?a.b.c", "error: no such key: c");
    check("optional.ofNonZeroValue(m.z.y).orValue(1)", "error: no such key: z");
    check("[?m.?z, ?m.?a.b]", "[1]");
    check("{?'k': m.?z, 'j': 1}", r#"{"j": 1}"#);
    check("m.?z.or(m.?a.b)", "optional.of(1)");
}

#[test]
fn logic_absorbs_errors_on_both_sides() {
    check("false && 1 / 0 > 0", "false");
    check("1 / 0 > 0 && false", "false");
    check("1 / 0 > 0 || true", "true");
    check("1 / 0 > 0 && true", "error: division by zero");
    check("true && x", "error: no such overload");
    check("x > 1 ? 1 : 1 / 0", "1");
    check("[1, 0, 2].exists(i, 4 / i == 2)", "true");
    check("[0, 2].all(i, 4 / i == 1)", "false");
    check("[0, 2].all(i, 4 / i == 2)", "error: division by zero");
}

#[test]
fn macros() {
    check("l.all(i, i > 0)", "true");
    check("l.exists_one(i, i > 2)", "true");
    check("l.map(i, i * 2)", "[2, 4, 6]");
    check("l.map(i, i > 1, i * 2)", "[4, 6]");
    check("l.filter(i, i != 2)", "[1, 3]");
    check("m.filter(k, k == 'a')", r#"["a"]"#);
    check("l.map(i, l.filter(j, j < i))", "[[], [1], [1, 2]]");
    check("cel.bind(t, x + 1, t * t)", "64");
    check("l.map(i, cel.bind(t, i + x, l.map(j, t + j)))", "[[9, 10, 11], [10, 11, 12], [11, 12, 13]]");
    check("5.map(i, i)", "error: got 'types.Int', expected iterable type");
    check("m.?a.optMap(a, a.b + 1)", "optional.of(2)");
}

/// The receiver of `optMap` is evaluated once and paid for twice, as where it is evaluated twice.
#[test]
fn chains_of_opt_map_are_planned_and_evaluated_once_a_link() {
    check("l.map(i, optional.of(i).optMap(v, v + 1).optMap(v, v * i).value())", "[2, 6, 12]");
    check("optional.of(5).optMap(v, l.map(i, v + i)).optMap(v, v[0]).value()", "6");
    check("optional.none().optMap(v, v).optMap(v, v)", "optional.none()");
    let cost = |links: usize| {
        let program = plan(&format!("optional.of(x){}", ".optMap(v, v)".repeat(links)));
        let evaluation = program.evaluate(&Variables::new(), Options::default());
        (evaluation.result.is_ok(), evaluation.cost)
    };
    assert_eq!(cost(0), (true, 2));
    // t + 1, t + 1, v, 1 for each link.
    assert_eq!(cost(1), (true, 2 * 2 + 4));
    assert_eq!(cost(2), (true, 2 * 8 + 4));
    assert!(!cost(200).0, "the budget does not hold 2^200");
}

#[test]
fn unknowns_win_over_errors_and_are_gathered() {
    check("u || true", "true");
    check("u || false", "unknown: {1}");
    check("u && 1 / 0 > 0", "unknown: {1}");
    check("1 / 0 > 0 || u || v", "unknown: {1, 2}");
    check("u + v", "unknown: {1, 2}");
    check("[u, v, 1]", "unknown: {1, 2}");
    check("l.map(i, i == 1 ? u : v)", "unknown: {1, 2}");
    check("l.filter(i, i == 1 ? u : v)", "unknown: {1, 2}");
    check("l.all(i, i == 1 ? u : v)", "unknown: {1, 2}");
    check("l.all(i, i == 1 ? u : i == 2)", "false");
    check("l.exists_one(i, i == 1 ? u : v)", "unknown: {1, 2}");
    check("l.filter(i, i == 1 ? u : i == 2 ? 1 / 0 > 0 : v)", "unknown: {1, 2}");
    check("u ? 1 : v", "unknown: {1}");
    check("m[u]", "unknown: {1}");
}

#[test]
fn errors_know_their_place() {
    let text = "x > 1 && m.a.zz == 2";
    let Err(Halt::Error(error)) = run(text) else { panic!() };
    let span = error.span.unwrap();
    assert_eq!(&text[span.start as usize..span.end as usize], "m.a.zz");
    let text = "l.map(i, 1 / (i - 2))";
    let Err(Halt::Error(error)) = run(text) else { panic!() };
    let span = error.span.unwrap();
    assert_eq!(&text[span.start as usize..span.end as usize], "1 / (i - 2)");
}

#[test]
fn the_budget_stops_and_is_not_absorbed() {
    let program = plan("l.all(i, l.all(j, l.all(k, true))) || true");
    let evaluation = program.evaluate(&Variables::new(), Options { budget: 20, ..Options::default() });
    let Err(Halt::Error(error)) = evaluation.result else { panic!() };
    assert_eq!(error.kind, ErrorKind::CostExceeded);
    assert!(evaluation.cost > 20 && evaluation.cost < 25);
}

#[test]
fn joining_lists_is_bounded() {
    // Doubles 40 times, at a cost of a few units each.
    let text = (0..40).fold("l".to_string(), |inner, i| format!("cel.bind(t{i}, {inner}, t{i} + t{i})"));
    let Err(Halt::Error(error)) = run(&text) else { panic!() };
    assert_eq!(error.kind, ErrorKind::CostExceeded);
}

#[test]
fn free_rounds_end() {
    let large: Value = vec![Value::Int(0); 100_000].into();
    let env = env();
    let ast = env.parse("l.exists_one(i, l.exists_one(j, false))").unwrap();
    let program = env.program_unchecked(ast).unwrap();
    let variables = [None, None, Some(large)];
    let Err(Halt::Error(error)) = program.evaluate(&variables[..], Options::default()).result else { panic!() };
    assert_eq!(error.kind, ErrorKind::CostExceeded);
}

/// On a stack of 2 MiB, what the parser accepts at its deepest.
fn deepest(make: impl Fn(usize) -> String + Send + 'static) {
    let run = move || {
        let env = env();
        let deepest = (1..=crate::limits::MAX_DEPTH).rev().find_map(|n| env.parse(&make(n)).ok()).unwrap();
        if let Ok(checked) = env.check(deepest.clone()) {
            let program = env.program(&checked).unwrap();
            let _ = program.evaluate(&Variables::new(), Options::default());
        }
        let program = env.program_unchecked(deepest).unwrap();
        let _ = program.evaluate(&Variables::new(), Options::default());
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap();
}

#[test]
fn the_deepest_expressions_fit_the_stack() {
    deepest(|n| format!("{}x{}", "(1 + ".repeat(n), ")".repeat(n)));
    deepest(|n| format!("{}x{}", "[".repeat(n), "]".repeat(n)));
    deepest(|n| format!("{}x{}", "{1: ".repeat(n), "}".repeat(n)));
    deepest(|n| format!("{}m{}", "m[".repeat(n), "]".repeat(n)));
    deepest(|n| format!("{}true{}", "(x > 0 ? ".repeat(n), " : false)".repeat(n)));
    deepest(|n| format!("{}true{}", "(false || !(x == 1 && ".repeat(n / 2), "))".repeat(n / 2)));
    deepest(|n| format!("{}true{}", "[1].all(i, ".repeat(n), ")".repeat(n)));
    deepest(|n| format!("{}x{}", "[1].map(i, ".repeat(n), ")".repeat(n)));
    deepest(|n| format!("{}x{}", "size(".repeat(n), ")".repeat(n)));
    deepest(|n| format!("x{}", ".size()".repeat(n)));
    deepest(|n| format!("m{}", ".a".repeat(n)));
    deepest(|n| format!("m.?a{}", ".optMap(a, a)".repeat(n)));
    deepest(|n| format!("{}x{}", "cel.bind(t, ".repeat(n), ", t)".repeat(n)));
    deepest(|n| format!("{}x{}", "optional.of(x).optMap(a, ".repeat(n), ")".repeat(n)));
    deepest(|n| format!("{}x{}", "[x].map(a, x > 0, ".repeat(n), ")".repeat(n)));
    deepest(|n| format!("{}x{}", "l.sortBy(a, ".repeat(n), ")".repeat(n)));
    deepest(|n| format!("{}x{}", "[x].transformMap(i, v, ".repeat(n), ")".repeat(n)));
    deepest(|n| format!("{}x{}", "[x].transformMapEntry(i, v, {i: ".repeat(n), "})".repeat(n)));
    deepest(|n| format!("{}x{}", "[x].map(i, {1: x in [".repeat(n / 3), "]})".repeat(n / 3)));
    deepest(|n| format!("{}x{}", "x > 0 ? {1: [".repeat(n / 3), "]} : x".repeat(n / 3)));
}

#[test]
fn programs_are_shared_between_threads() {
    fn shared<T: Send + Sync>(_: &T) {}
    shared(&plan("x > 1"));
}

#[test]
fn a_recorder_sees_what_was_evaluated_and_decided() {
    #[derive(Default)]
    struct Seen(Vec<(String, bool)>, Arc<str>, Vec<crate::source::Span>);
    impl Recorder for Seen {
        fn evaluated(&mut self, _node: NodeId) {}
        fn decided(&mut self, node: NodeId, outcome: bool) {
            let span = self.2[node.0 as usize];
            self.0.push((self.1[span.start as usize..span.end as usize].to_string(), outcome));
        }
    }
    let program = plan("x > 9 || l.exists(i, i == 2) ? 'yes' : 'no'");
    let ast = program.ast();
    let spans = ast.nodes().iter().map(|n| n.span).collect();
    let mut seen = Seen(vec![], ast.source().clone(), spans);
    program.evaluate(&Variables::new(), Options { recorder: Some(&mut seen), ..Options::default() }).result.unwrap();
    let seen: Vec<_> = seen.0.iter().map(|(text, outcome)| (&**text, *outcome)).collect();
    assert_eq!(
        seen,
        [
            ("x > 9", false),
            ("i == 2", false),
            ("i == 2", true),
            ("l.exists(i, i == 2)", true),
            ("x > 9 || l.exists(i, i == 2)", true)
        ]
    );
}

#[test]
fn a_repeated_key_of_a_literal_is_an_error_or_counts_last() {
    check("{'a': x, 'a': 2}", "error: Failed with repeated key: a");
    check("{1: 1, 1u: 2}", "error: Failed with repeated key: 1");
    let env = env().extend().lenient(true).build();
    for text in ["{'a': x, 'a': 2}", "{'a': 1, 'a': 2}"] {
        let program = env.program_unchecked(env.parse(text).unwrap()).unwrap();
        let got = program.evaluate(&Variables::new(), Options::default()).result.unwrap();
        assert_eq!(got.to_string(), r#"{"a": 2}"#);
    }
}

#[test]
fn object_literals_become_maps_under_the_provider_s_keys() {
    struct Provider;
    impl crate::types::TypeProvider for Provider {
        fn field(&self, _object: &str, name: &str) -> Option<crate::types::Field> {
            (name == "a__dash__b").then(|| crate::types::Field { ty: Type::Int, key: "a-b".into() })
        }
        fn field_names(&self, _object: &str) -> Vec<Arc<str>> {
            vec!["a__dash__b".into()]
        }
        fn named_type(&self, name: &str) -> Option<Type> {
            (name == "Object.spec").then(|| Type::Object(name.into()))
        }
    }
    let env = env().extend().provider(Arc::new(Provider)).build();
    let text = "Object.spec{a__dash__b: x}";
    let checked = env.program(&env.compile(text).unwrap()).unwrap();
    let unchecked = env.program_unchecked(env.parse(text).unwrap()).unwrap();
    for program in [checked, unchecked] {
        let evaluation = program.evaluate(&Variables::new(), Options::default());
        assert_eq!(evaluation.result.unwrap().to_string(), r#"{"a-b": 7}"#);
        assert_eq!(evaluation.cost, 41);
    }
    let dotted = env.compile("Object.spec{a__dash__b: x}.a__dash__b").unwrap();
    let program = env.program(&dotted).unwrap();
    assert_eq!(program.evaluate(&Variables::new(), Options::default()).result, Ok(Value::Int(7)));
    assert!(env.program_unchecked(env.parse("Object.spec{b: 1}").unwrap()).is_err());
}

/// Kubernetes' costs, as asked: an `optMap` evaluates what it is called on twice, a binding is paid for once, by who asks first.
#[test]
fn a_binding_is_paid_for_once_though_its_first_use_is_in_what_is_evaluated_twice() {
    let env = crate::library::all().into_iter().fold(Env::builder(), crate::EnvBuilder::library).build();
    for (text, cost) in [
        ("optional.of(1).optMap(x, optional.of(x).optMap(z, 1))", 9),
        ("optional.of(1).optMap(x, optional.of(x).optMap(z, z))", 13),
        ("optional.of(1).optMap(x, optional.of(x).optMap(z, optional.of(z).optMap(w, w)))", 20),
        ("optional.of(1).optMap(x, optional.of(x).optMap(z, optional.of(x).optMap(w, w)))", 17),
        ("optional.of(1).optMap(x, optional.of(optional.of(x).optMap(y, y + x).orValue(2)).optMap(z, z + x))", 33),
        ("optional.of(1).optMap(x, optional.of(x).optMap(y, y).optMap(z, z + x))", 27),
        ("optional.of(1).optMap(x, optional.of(x).optFlatMap(z, optional.of(z + x)).optMap(w, w))", 29),
        ("[1, 2].map(i, optional.of(i).optMap(x, optional.of(x).optMap(z, z)))", 55),
        ("cel.bind(a, 1 + 1, optional.of(a).optMap(z, z))", 9),
        ("cel.bind(a, 1 + 1, optional.of(cel.bind(b, a + a, b + b)).optMap(z, z))", 19),
    ] {
        let program = env.program(&env.compile(text).unwrap()).unwrap();
        assert_eq!(program.evaluate(&[][..], Options::default()).cost, cost, "{text}");
    }
}
