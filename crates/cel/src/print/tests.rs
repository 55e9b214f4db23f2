//! Tests of the module above.
use crate::{Ast, Env};

fn env() -> Env {
    let libraries = [crate::library::comprehensions(), crate::library::bindings(), crate::library::lists()];
    libraries.into_iter().fold(Env::standard().escaped_identifiers(true), crate::EnvBuilder::library).build()
}

fn parse(text: &str) -> Ast {
    env().parse(text).unwrap_or_else(|issues| panic!("{text}: {issues}"))
}

#[track_caller]
fn prints(text: &str, expected: &str) {
    let ast = parse(text);
    assert_eq!(ast.to_string(), expected);
    assert!(parse(expected).is_same(&ast), "{text} is another tree than {expected}");
}

#[test]
fn only_the_parentheses_that_are_needed() {
    prints("(((1))+(2*3))", "1 + 2 * 3");
    prints("(1+2)*3", "(1 + 2) * 3");
    prints("1-(2-3)", "1 - (2 - 3)");
    prints("1-2-3", "1 - 2 - 3");
    prints("(a?b:c)?d:(e?f:g)", "(a ? b : c) ? d : e ? f : g");
    prints("!(!a) && -(1) == -(-x)", "!(!a) && -(1) == -(-x)");
    prints("(a+b).c[(d)](e)".trim_end_matches("(e)"), "(a + b).c[d]");
    prints("(-1).f()", "(-1).f()");
    prints("-(1.f()[0].?a)", "-(1.f()[0].?a)");
    prints("- 1 - -1", "-1 - -1");
    prints("(a == b) == c", "a == b == c");
    prints("a == (b == c)", "a == (b == c)");
}

#[test]
fn chains_keep_their_shape() {
    prints("a&&b&&c&&d&&e", "a && b && c && d && e");
    prints("a && (b && c)", "a && (b && c)");
    prints("(a && b) && c", "a && b && c");
    prints("(a && b) && c && d", "(a && b && c) && d");
    prints("a || b && (c || d)", "a || b && (c || d)");
}

#[test]
fn literals_and_macros() {
    prints(
        r#"["a'\n\u0007é", b"\xff'", 1u, 1.0, 1e300, null, true, {1: 2,}, [?x], {?a: b}]"#,
        r"['a\'\n\u0007é', b'\xff\'', 1u, 1.0, 1e300, null, true, {1: 2}, [?x], {?a: b}]",
    );
    prints("a.?`b-c`[?d].`in`", "a.?`b-c`[?d].`in`");
    prints("has(a.b) && x.all(y, y > 0)", "has(a.b) && x.all(y, y > 0)");
    prints("x.map(i, i > 1, i).sortBy(e, e.a)", "x.map(i, i > 1, i).sortBy(e, e.a)");
    prints("x.optMap(v, v).optMap(w, cel.bind(u, w, u))", "x.optMap(v, v).optMap(w, cel.bind(u, w, u))");
    prints("a.b.C{x: 1, ?`y-z`: 2}", "a.b.C{x: 1, ?`y-z`: 2}");
    prints(".a.b(.c(), d)", ".a.b(.c(), d)");
}

/// Expressions made at random, but the same ones each time.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len() as u64) as usize]
    }

    fn list(&mut self, depth: u32, mut part: impl FnMut(&mut Random, u32) -> String) -> String {
        (0..self.below(4)).map(|_| part(self, depth)).collect::<Vec<_>>().join(",")
    }

    fn expression(&mut self, depth: u32) -> String {
        if depth == 0 {
            return self
                .one(&[
                    "a", "b", ".c", "1", "-2", "3u", "0.5", "-1e9", "'x\\n'", "b'\\x00'", "true", "null", "[]", "{}",
                ])
                .to_owned();
        }
        let depth = depth - 1;
        match self.below(16) {
            0..3 => {
                let (left, right) = (self.expression(depth), self.expression(depth));
                let op = self.one(&["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", " in "]);
                format!("({left}){op}({right})")
            }
            3 => {
                let op = self.one(&["&&", "||"]);
                let terms: Vec<_> = (0..self.below(6) + 2).map(|_| format!("({})", self.expression(depth))).collect();
                terms.join(op)
            }
            4 => format!("({})?({}):({})", self.expression(depth), self.expression(depth), self.expression(depth)),
            5 => format!("!({})", self.expression(depth)),
            6 => format!("-({})", self.expression(depth)),
            7 => format!("({}).{}", self.expression(depth), self.one(&["x", "`y-z`", "if", "?w"])),
            8 => format!("({})[{}{}]", self.expression(depth), self.one(&["", "?"]), self.expression(depth)),
            9 => format!("[{}]", self.list(depth, |r, d| r.one(&["", "?"]).to_owned() + &r.expression(d))),
            10 => format!(
                "{{{}}}",
                self.list(depth, |r, d| format!("{}({}):{}", r.one(&["", "?"]), r.expression(d), r.expression(d)))
            ),
            11 => format!("p.T{{{}}}", self.list(depth, |r, d| format!("{}f:{}", r.one(&["", "?"]), r.expression(d)))),
            12 => format!("f({})", self.list(depth, Random::expression)),
            13 => format!("({}).g({})", self.expression(depth), self.list(depth, Random::expression)),
            14 => format!(
                "({}).{}(v,{})",
                self.expression(depth),
                self.one(&["all", "exists", "map", "filter", "optMap"]),
                self.expression(depth)
            ),
            _ => format!("has(({}).h)", self.expression(depth)),
        }
    }
}

#[test]
fn parsing_what_is_printed_gives_the_same_tree() {
    let (env, mut random) = (env(), Random(0x9e37_79b9_7f4a_7c15));
    for i in 0..2_000 {
        let text = random.expression(i % 5);
        let ast = env.parse(&text).unwrap_or_else(|issues| panic!("{text}: {issues}"));
        let printed = ast.to_string();
        let again = env.parse(&printed).unwrap_or_else(|issues| panic!("{text} as {printed}: {issues}"));
        assert!(again.is_same(&ast), "{text} as {printed}");
        assert_eq!(again.to_string(), printed, "{text}");
    }
}
