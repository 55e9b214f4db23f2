//! Hostile texts: whatever is written, parsing, checking and printing end, on a 2 MiB stack, without a panic.
//!
//! Absent: evaluation.
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

use cel::{Ast, Env, ast::NodeId, estimate::NoSizes, library};

fn env() -> Env {
    let libraries =
        [library::comprehensions(), library::lists(), library::bindings(), library::blocks(), library::math()];
    let env = libraries.into_iter().fold(Env::standard(), cel::EnvBuilder::library);
    env.variable("a", cel::Type::Dyn).escaped_identifiers(true).homogeneous_aggregates(true).build()
}

/// Everything that can be done with a text; `true` if it is an expression.
fn exercise(env: &Env, text: &str) -> bool {
    let ast = match env.parse(text) {
        Ok(ast) => ast,
        Err(issues) => {
            assert!(!issues.0.is_empty() && issues.0.len() <= 100, "{} issues", issues.0.len());
            let _ = issues.render(text);
            return false;
        }
    };
    children_come_first(&ast);
    let printed = ast.to_string();
    // Parentheses that keep the shape of a chain may nest deeper than the text did.
    if let Ok(again) = env.parse(&printed) {
        assert!(again.is_same(&ast), "{text} is printed as {printed}");
    }
    match env.check(ast) {
        Ok(checked) => {
            let _ = (checked.attributes(), checked.result_type().to_string(), checked.clone());
            let cost = checked.estimate(env, &NoSizes).cost;
            assert!(cost.min <= cost.max, "{text} is estimated at {cost:?}");
        }
        Err(issues) => assert!(!issues.0.is_empty() && issues.0.len() <= 100),
    }
    true
}

fn children_come_first(ast: &Ast) {
    for (i, node) in ast.nodes().iter().enumerate() {
        node.kind.for_each_child(|NodeId(child)| assert!((child as usize) < i));
    }
}

#[test]
fn repeated_pieces() {
    common::on_small_stack(|| {
        let env = env();
        let pieces = [
            "(",
            "[",
            "{",
            "{1:",
            "f(",
            "a.f(",
            "a[",
            "a[?",
            "A{b:",
            "-",
            "!",
            "- ",
            "!-",
            "a.",
            "a.?",
            "a?",
            "a?b:",
            "1+",
            "1*",
            "1==",
            "a&&",
            "a||",
            "a||b&&",
            "a in ",
            "'",
            "\"",
            "'''",
            "b'",
            "`",
            "r\"",
            "\\",
            "1",
            "a ",
            ")",
            "]",
            "}",
            ",",
            ":",
            "?",
            "=",
            "\u{1f600}",
            "\n",
            "//",
            "/",
            "has(",
            "has(a.",
            "[1].all(x,",
            "[1].map(x,",
            "a.optMap(v,",
            "cel.bind(x,1,",
            "cel.block([1,",
            "[?",
            "{?1:",
            "a(1)+",
            "1 2 ",
            "a.`b`.",
            "x.y{",
            "if(",
            "[].map(x,[x,",
            "(1+1+(",
            "[[],",
            "{a:{},b:",
        ];
        for piece in pieces {
            for tail in ["", "1", "a", ")"] {
                exercise(&env, &(piece.repeat(100_000 / piece.chars().count() - 1) + tail));
                exercise(&env, &(piece.repeat(240) + tail));
            }
        }
    });
}

#[test]
fn repeated_links() {
    common::on_small_stack(|| {
        let env = env();
        let links = [
            ".b",
            "[0]",
            ".f()",
            "+a",
            ".map(x,x)",
            ".map(x,[x])",
            ".map(x,{x:x})",
            ".filter(x,true)",
            ".optMap(v,v)",
            ".optMap(v,optional.of(v))",
            ".optFlatMap(v,v)",
            ".sortBy(e,e)",
            ".?b",
            "[?0]",
            "&&a",
            "||a&&b",
            "?b:a",
            "==a",
            ".transformMap(k,v,{k:v})",
            ".all(x,x)",
            " in a",
        ];
        for start in ["a", "[]", "[1]", "optional.of(1)", "{}"] {
            for link in links {
                exercise(&env, &(start.to_owned() + &link.repeat(250)));
                exercise(&env, &(start.to_owned() + &link.repeat((100_000 - start.len()) / link.len())));
            }
        }
    });
}

#[test]
fn nested_wholes() {
    common::on_small_stack(|| {
        let env = env();
        let wholes = [
            ("(", ")"),
            ("[", "]"),
            ("{1:", "}"),
            ("[[],", "]"),
            ("f(", ")"),
            ("a.f(", ")"),
            ("a[", "]"),
            ("!(", ")"),
            ("-(", ")"),
            ("a&&(", ")"),
            ("a||a&&(", ")"),
            ("a?a:", ""),
            ("1+(", ")"),
            ("[1].all(x,", ")"),
            ("[1].map(x,", ")"),
            ("[1].map(x,true,", ")"),
            ("[1].filter(x,", ")"),
            ("a.optMap(v,", ")"),
            ("cel.bind(v,1,", ")"),
            ("cel.bind(v,", ",v)"),
            ("[1].sortBy(x,", ")"),
            ("has(a[", "].b)"),
            ("!(a&&a||a?a:[{1:[1].map(x,true,", ")}])"),
        ];
        for (open, close) in wholes {
            for count in [10, 100, 124, 200, 249, 250] {
                exercise(&env, &format!("{}a{}", open.repeat(count), close.repeat(count)));
            }
        }
    });
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
