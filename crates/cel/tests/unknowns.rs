//! Partial evaluation: exactly the attributes that are needed and not known are reported, as cel-go decides it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    unreachable_pub,
    reason = "a test fails by panicking"
)]
use cel::{
    Env, Type, Value,
    eval::{Activation, Bound, Halt, Pattern},
    program::Options,
};

struct Partial(Value, Vec<Pattern>);

impl Activation for Partial {
    fn variable(&self, _: u32) -> Bound<'_> {
        Bound::Partly(&self.0, &self.1)
    }
}

fn value(text: &str) -> Value {
    let env = Env::standard().build();
    env.program(&env.compile(text).unwrap()).unwrap().evaluate(&[][..], Options::default()).result.unwrap()
}

fn evaluate(text: &str, variables: &Partial) -> Result<Value, Halt> {
    let env = cel::library::all().into_iter().fold(Env::builder(), cel::EnvBuilder::library);
    let env = env.variable("x", Type::Dyn).build();
    let checked = env.compile(text).unwrap_or_else(|issues| panic!("{text}: {issues}"));
    env.program(&checked).unwrap().evaluate(variables, Options::default()).result
}

fn object() -> Value {
    value(
        "{'name': 'a', 'spec': {'size': 3, 'list': [{'a': 1}, {'a': 2, 'b': 3}], 'zero': 0, 'key': 'size'},
          'status': {'phase': 'Bound'}}",
    )
}

#[test]
fn attributes_that_meet_a_pattern_are_unknown_and_no_others() {
    let patterns = || {
        vec![
            Pattern::new(1).key("spec").key("size"),
            Pattern::new(2).key("status"),
            Pattern::new(3).key("spec").key("list").any().key("b"),
            Pattern::new(4).key("absent").key("deep").key("er"),
            Pattern::new(5).key("spec").key("list").key(0_i64),
        ]
    };
    for (text, expected) in [
        // To the end, beyond it, and before it.
        ("x.spec.size", "{1}"),
        ("x.spec.size.more", "{1}"),
        ("x.spec", "{1, 3, 5}"),
        ("x", "{1, 2, 3, 4, 5}"),
        ("x == 1", "{1, 2, 3, 4, 5}"),
        ("x.status.phase", "{2}"),
        // However it is written.
        ("x['spec']['size']", "{1}"),
        ("x['sp' + 'ec'][x.name == 'a' ? 'size' : 'zero']", "{1}"),
        ("x.spec[x.spec.key]", "{1}"),
        ("x.?spec.?size", "{1}"),
        ("x.?spec[?'size'].orValue(1)", "{1}"),
        ("has(x.spec.size)", "{1}"),
        ("has(x.status)", "{2}"),
        // Wildcards and indexes.
        ("x.spec.list[1].b", "{3}"),
        ("x.spec.list[1].a", "2"),
        ("x.spec.list[7].b", "{3}"),
        ("x.spec.list[0].a", "{5}"),
        ("x.spec.list[0u].a", "{5}"),
        ("x.spec.list[1]", "{3}"),
        ("x.spec.list.map(i, i.a)", "{3, 5}"),
        ("x.spec.list.size()", "{3, 5}"),
        // What the value lacks on the way to what is not known does not count; elsewhere it does.
        ("x.absent.deep.er", "{4}"),
        ("x.absent.deep.er.still", "{4}"),
        ("x.absent", "{4}"),
        ("x.?absent.deep.er", "{4}"),
        ("has(x.absent.deep)", "{4}"),
        ("x.absent.other", "no such key: absent"),
        ("x.absent['oth' + 'er'].er", "no such key: absent"),
        ("has(x.spec.other)", "false"),
        ("x.?other.er.orValue(9)", "9"),
        // What is known.
        ("x.name", "\"a\""),
        ("x.spec.zero", "0"),
        ("has(x.spec.zero)", "true"),
        // All that are needed, none that is not.
        ("x.spec.size + x.status.phase", "{1, 2}"),
        ("x.name == 'a' || x.spec.size > 2", "true"),
        ("x.name == 'b' || x.spec.size > 2 || x.status.phase == 'Bound'", "{1, 2}"),
        ("x.name == 'b' && x.spec.size > 2", "false"),
        ("x.name == 'a' ? x.spec.size : x.status.phase", "{1}"),
        ("[1, 2].map(i, i == 1 ? x.spec.size : x.status.phase)", "{1, 2}"),
        ("x.spec.size > 1 || 1 / x.spec.zero > 0", "{1}"),
        ("cel.bind(y, x.spec.size, x.name)", "\"a\""),
    ] {
        let got = match evaluate(text, &Partial(object(), patterns())) {
            Ok(value) => value.to_string(),
            Err(Halt::Unknown(unknowns)) => format!("{:?}", unknowns.0),
            Err(Halt::Error(error)) => error.message,
        };
        assert_eq!(got, expected, "{text}");
    }
}

#[test]
fn without_patterns_it_is_the_value() {
    for text in ["x.spec.size", "x", "x.spec.list.map(i, i.a)", "has(x.absent)", "x.?absent.deep", "x.spec.list[9]"] {
        let partial = Partial(object(), vec![]);
        let whole = [Some(object())];
        let env = cel::library::all().into_iter().fold(Env::builder(), cel::EnvBuilder::library);
        let env = env.variable("x", Type::Dyn).build();
        let program = env.program(&env.compile(text).unwrap()).unwrap();
        let partial = program.evaluate(&partial, Options::default());
        let whole = program.evaluate(&whole[..], Options::default());
        assert_eq!((partial.result, partial.cost), (whole.result, whole.cost), "{text}");
    }
}

#[test]
fn a_pattern_of_no_steps_is_the_whole_variable() {
    let partial = Partial(object(), vec![Pattern::new(7)]);
    for text in ["x", "x.name", "x.?y", "has(x.z)", "x.spec.list.map(i, i.a)"] {
        assert!(matches!(evaluate(text, &partial), Err(Halt::Unknown(u)) if u.0 == [7].into()), "{text}");
    }
}
