//! Tests of the module above.
use super::*;
use crate::{Env, ast::Kind};

fn env() -> Env {
    Env::standard().build()
}

/// The tree in prefix notation, macros expanded.
fn shape(ast: &Ast, id: NodeId) -> String {
    let many = |ids: &[NodeId]| ids.iter().map(|id| shape(ast, *id)).collect::<Vec<_>>().join(" ");
    match &ast.node(id).unwrap().kind {
        Kind::Literal(literal) => match literal {
            Literal::Null => "null".into(),
            Literal::Bool(b) => b.to_string(),
            Literal::Int(i) => i.to_string(),
            Literal::Uint(u) => format!("{u}u"),
            Literal::Double(d) => format!("{d:?}"),
            Literal::String(s) => format!("{s:?}"),
            Literal::Bytes(b) => format!("b{b:?}"),
        },
        Kind::Ident(name) => name.to_string(),
        Kind::Select { operand, field, test_only, .. } => {
            format!("{}.{field}{}", shape(ast, *operand), if *test_only { "~" } else { "" })
        }
        Kind::Call { target, function, args, .. } => {
            let target = target.map(|target| format!("{}.", shape(ast, target))).unwrap_or_default();
            format!("({target}{function}{}{})", if args.is_empty() { "" } else { " " }, many(args))
        }
        Kind::List { elements } => {
            let parts: Vec<_> =
                elements.iter().map(|(e, opt)| format!("{}{}", if *opt { "?" } else { "" }, shape(ast, *e))).collect();
            format!("[{}]", parts.join(" "))
        }
        Kind::Struct { name, fields } => {
            let parts: Vec<_> = fields
                .iter()
                .map(|f| format!("{}{}:{}", if f.optional { "?" } else { "" }, f.name, shape(ast, f.value)))
                .collect();
            format!("{name}{{{}}}", parts.join(" "))
        }
        Kind::Map { entries } => {
            let parts: Vec<_> = entries
                .iter()
                .map(|e| format!("{}{}:{}", if e.optional { "?" } else { "" }, shape(ast, e.key), shape(ast, e.value)))
                .collect();
            format!("{{{}}}", parts.join(" "))
        }
        Kind::Comprehension(c) => format!(
            "(fold {}{} in {}; {} = {}; while {}; {}; {})",
            c.iter_var,
            c.iter_var2.as_ref().map(|v| format!(",{v}")).unwrap_or_default(),
            shape(ast, c.iter_range),
            c.accu_var,
            shape(ast, c.accu_init),
            shape(ast, c.loop_condition),
            shape(ast, c.loop_step),
            shape(ast, c.result)
        ),
    }
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let env = env().extend().escaped_identifiers(true).build();
    let ast = env.parse(text).unwrap_or_else(|issues| panic!("{text}: {issues}"));
    assert_eq!(shape(&ast, ast.root()), expected, "{text}");
}

#[track_caller]
fn fails(text: &str, expected: &[(u32, &str)]) {
    let issues = env().parse(text).expect_err(text).list;
    let found: Vec<(u32, &str)> = issues
        .iter()
        .map(|issue| {
            let column = issue.at.map_or(0, |at| crate::source::position(text, at).column);
            (column, issue.message.split(" expecting {'['").next().unwrap())
        })
        .collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn operators_bind_as_the_grammar_says() {
    check("1 + 2 * 3 - 4 == x", "(_==_ (_-_ (_+_ 1 (_*_ 2 3)) 4) x)");
    check("a < b == c < d", "(_<_ (_==_ (_<_ a b) c) d)");
    check("a || b && c || !d", "(_||_ (_||_ a (_&&_ b c)) (!_ d))");
    check("a ? b : c ? d : e", "(_?_:_ a b (_?_:_ c d e))");
    check("-x.y[0] * -1", "(_*_ (-_ (_[_] x.y 0)) -1)");
    check("--x - -1", "(_-_ x -1)");
    check("!!!a", "(!_ a)");
    check("!-1", "(!_ -1)");
    check("(1 + 2) * 3", "(_*_ (_+_ 1 2) 3)");
    check("x in [1] in y", "(@in (@in x [1]) y)");
    check("-9223372036854775808", "-9223372036854775808");
}

#[test]
fn chains_are_balanced() {
    check("a && b && c && d", "(_&&_ (_&&_ a b) (_&&_ c d))");
    check("a || b || c", "(_||_ (_||_ a b) c)");
    let text = vec!["a"; 10_000].join(" && ");
    assert!(env().parse(&text).is_ok());
}

#[test]
fn members_and_literals() {
    check(".a.b.`c-d`.f(x, .g())", "(.a.b.c-d.f x (.g))");
    check("a.?b[?c]", "(_[?_] (_?._ a \"b\") c)");
    check("[?a, b,]", "[?a b]");
    check("{?a: b, 'c': d,}", "{?a:b \"c\":d}");
    check("{a ? b : c : d}", "{(_?_:_ a b c):d}");
    check("a.b.C{x: 1, ?y: 2,}", "a.b.C{x:1 ?y:2}");
    check(".C{}", ".C{}");
    check("[,]", "[]");
    check("{,}", "{}");
    check("C{,}", "C{}");
    check("1.f() + -1.5.f()", "(_+_ (1.f) (-1.5.f))");
}

#[test]
fn macros_expand() {
    check("has(a.b)", "a.b~");
    check(
        "a.all(x, x)",
        "(fold x in a; @result = true; while (@not_strictly_false @result); (_&&_ @result x); @result)",
    );
    check("a.map(x, y, z)", "(fold x in a; @result = []; while true; (_?_:_ y (_+_ @result [z]) @result); @result)");
    check("a.filter(x, y)", "(fold x in a; @result = []; while true; (_?_:_ y (_+_ @result [x]) @result); @result)");
    check(
        "a.optMap(x, x)",
        "(_?_:_ (a.hasValue) (optional.of (fold #unused in []; x = (a.value); while false; x; x)) (optional.none))",
    );
    check("has(a, b)", "(has a b)");
    check("a.has(b.c)", "(a.has b.c)");
}

#[test]
fn a_macro_is_only_there_with_its_library() {
    let ast = Env::builder().build().parse("a.all(x, x)").unwrap();
    assert_eq!(shape(&ast, ast.root()), "(a.all x x)");
}

#[test]
fn errors_are_cel_gos() {
    fails("", &[(0, "Syntax error: mismatched input '<EOF>'")]);
    fails("1 + + 1", &[(5, "Syntax error: extraneous input '+'")]);
    fails("1 ? 2", &[(6, "Syntax error: mismatched input '<EOF>' expecting ':'")]);
    fails("true ? 1, 2 : 3", &[(9, "Syntax error: mismatched input ',' expecting ':'")]);
    fails("x y", &[(3, "Syntax error: extraneous input 'y' expecting <EOF>")]);
    fails("x[1", &[(4, "Syntax error: missing ']' at '<EOF>'")]);
    fails("f(1 2)", &[(5, "Syntax error: extraneous input '2' expecting ')'")]);
    fails("x.", &[(3, "Syntax error: no viable alternative at input '.'")]);
    fails("-!x", &[(2, "Syntax error: no viable alternative at input '-!'")]);
    fails("!-x", &[(3, "Syntax error: no viable alternative at input '-x'")]);
    fails("has(x[0])", &[(6, "invalid argument to has() macro")]);
    fails("[1].map(x.y, 1)", &[(10, "argument is not an identifier")]);
    fails("x{a}", &[(4, "Syntax error: mismatched input '}' expecting ':'")]);
    fails("if + let", &[(1, "reserved identifier: if"), (6, "reserved identifier: let")]);
    fails(
        "(1 + ) + [2, * ] + f(3 4)",
        &[
            (6, "Syntax error: mismatched input ')'"),
            (14, "Syntax error: mismatched input '*'"),
            (24, "Syntax error: extraneous input '4' expecting ')'"),
        ],
    );
}

#[test]
fn limits_are_cel_gos() {
    #[track_caller]
    fn limited(text: &str, expected: Option<&str>) {
        let issues = env().parse(text).err().map(|issues| issues.to_string());
        assert_eq!(issues.as_deref(), expected);
    }
    const NESTING: Option<&str> = Some("expression recursion limit exceeded: 250");
    const OPERATORS: Option<&str> = Some("max recursion depth exceeded");
    let nested = |n: usize, open: &str, close: &str| format!("{}1{}", open.repeat(n), close.repeat(n));
    limited(&nested(249, "(", ")"), None);
    limited(&nested(250, "(", ")"), NESTING);
    limited(&nested(249, "l.exists(v,", ")"), None);
    limited(&nested(250, "[", "]"), NESTING);
    limited(&nested(250, "true?1:", ""), NESTING);
    limited(&nested(250, "", ".a"), None);
    limited(&nested(251, "", "+1"), OPERATORS);
    limited(&nested(251, "", ".map(v,v)"), OPERATORS);
    limited(&format!("1{}", " ".repeat(99_999)), None);
    limited(
        &format!("1{}", " ".repeat(100_000)),
        Some("expression code point size exceeds limit: size: 100001, limit 100000"),
    );
}
