//! Where a run-time error is: the failing sub-expression's own text, and its line and column in characters.
//!
//! Absent: the words of errors (vectors, language).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::result_large_err,
    unreachable_pub,
    reason = "tests fail by panicking"
)]
use cel::{Env, EnvBuilder, Type, Value, eval::Halt, library, program::Options, source::position};

/// `failing` is what fails of `text`, at a line and a column.
#[track_caller]
fn check(text: &str, failing: &str, place: (u32, u32)) {
    let env = library::all().into_iter().fold(Env::builder(), EnvBuilder::library).variable("m", Type::Dyn);
    let env = env.variable("x", Type::Int).variable("s", Type::String).build();
    let map = Env::standard().build();
    let map = map.program(&map.compile("{'a': {'b': 1}, 'l': [1, 2]}").unwrap()).unwrap();
    let map = map.evaluate(&[][..], Options::default()).result.unwrap();
    let variables = [Some(map), Some(Value::Int(0)), Some("é".into())];
    let checked = env.program(&env.compile(text).unwrap()).unwrap();
    let unchecked = env.program_unchecked(env.parse(text).unwrap()).unwrap();
    for program in [checked, unchecked] {
        let Err(Halt::Error(error)) = program.evaluate(&variables[..], Options::default()).result else {
            panic!("{text} does not fail")
        };
        let span = error.span.unwrap_or_else(|| panic!("{text}: {error} has no place"));
        assert_eq!(&text[span.start as usize..span.end as usize], failing, "{text}: {error}");
        let found = position(text, span.start);
        assert_eq!((found.line, found.column), place, "{text}: {error}");
    }
}

#[test]
fn errors_stand_where_they_are_made() {
    check("1 / x", "1 / x", (1, 1));
    check("'日本' == s || 1 / x > 0", "1 / x", (1, 14));
    check("'é' +\n  string(\n    'ü'.size() % x)", "'ü'.size() % x", (3, 5));
    check("m.a.c == 'ö'", "m.a.c", (1, 1));
    check("'ööö' == m.z", "m.z", (1, 10));
    check("'ö' + m.l[7 + x]", "m.l[7 + x]", (1, 7));
    check("['ä', 'ö'].map(e, e + string(1 / x))", "1 / x", (1, 30));
    check("['ä'].all(e, e == 'ä' && m.a.zz == 1)", "m.a.zz", (1, 26));
    check("[1].filter(e, e / x == 1)", "e / x", (1, 15));
    check("[1, 0].exists_one(e, 1 / e == 1)", "1 / e", (1, 22));
    check("['ß'].transformList(i, v, v.substring(5))", "v.substring(5)", (1, 27));
    check("cel.bind(ö_, 1, ö_)".replace('ö', "o").as_str().replace("o_)", "o_ / x)").as_str(), "o_ / x", (1, 17));
    check("optional.of('é').optMap(v, int(v)).value()", "int(v)", (1, 28));
    check("'é' != s ? 1 : int(s)", "int(s)", (1, 16));
    check("optional.none().value() == 'é'", "optional.none().value()", (1, 1));
    check("{'é': 1 / x}", "1 / x", (1, 7));
    check("['é', 'é'].map(e, {e: s}).map(e, e['ü'])", "e['ü']", (1, 34));
    check("s.matches(s + '(')", "s.matches(s + '(')", (1, 1));
    check("timestamp(s + '1') > timestamp('2024-01-01T00:00:00Z')", "timestamp(s + '1')", (1, 1));
    check("m.a.b.c.d", "m.a.b.c", (1, 1));
    check("9223372036854775807 + (x + 1)", "9223372036854775807 + (x + 1)", (1, 1));
    check("-(x - 9223372036854775807 - 1)", "-(x - 9223372036854775807 - 1)", (1, 1));
    check("'é'.charAt(9)", "'é'.charAt(9)", (1, 1));
    check("has(m.a.b.c.d) || has(m.q.r)", "m.a.b.c", (1, 5));
}
