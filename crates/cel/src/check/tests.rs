//! Tests of the module above.
use super::*;
use crate::types::{Field, TypeProvider};

/// `object` is a `Root` with `spec` (a `Spec` with `size: int`, `name: string`, `labels: map(string, string)`,
/// `a__dot__b: int` kept as `a.b`) and `items`, a list of `Spec`.
struct Objects;

impl TypeProvider for Objects {
    fn field(&self, object: &str, name: &str) -> Option<Field> {
        let spec = Type::Object("Spec".into());
        let ty = match (object, name) {
            ("Root", "spec") => spec,
            ("Root", "items") => Type::list(spec),
            ("Spec", "size" | "a__dot__b") => Type::Int,
            ("Spec", "name") => Type::String,
            ("Spec", "labels") => Type::map(Type::String, Type::String),
            _ => return None,
        };
        Some(Field { ty, key: name.replace("__dot__", ".").into() })
    }

    fn field_names(&self, object: &str) -> Vec<Arc<str>> {
        let names: &[&str] = match object {
            "Root" => &["spec", "items"],
            "Spec" => &["size", "name", "labels", "a__dot__b"],
            _ => &[],
        };
        names.iter().map(|name| (*name).into()).collect()
    }

    fn named_type(&self, name: &str) -> Option<Type> {
        matches!(name, "Root" | "Spec").then(|| Type::Object(name.into()))
    }
}

fn env() -> Env {
    Env::standard()
        .library(crate::library::comprehensions())
        .provider(Arc::new(Objects))
        .variable("object", Type::Object("Root".into()))
        .variable("d", Type::Dyn)
        .variable("n", Type::Int)
        .variable("w", Type::Wrapper(Type::Int.into()))
        .variable("a.b.c", Type::String)
        .build()
}

#[track_caller]
fn has_type(text: &str, expected: &str) {
    let checked = env().compile(text).unwrap_or_else(|issues| panic!("{text}: {issues}"));
    assert_eq!(checked.result_type().to_string(), expected, "{text}");
}

#[track_caller]
fn fails_in(env: &Env, text: &str, expected: &[(u32, &str)]) {
    let issues = env.compile(text).expect_err(text).list;
    let found: Vec<(u32, &str)> =
        issues.iter().map(|issue| (crate::source::position(text, issue.at.unwrap()).column, &*issue.message)).collect();
    assert_eq!(found, expected, "{text}");
}

#[track_caller]
fn fails(text: &str, expected: &[(u32, &str)]) {
    fails_in(&env(), text, expected);
}

#[track_caller]
fn helps(text: &str, expected: &str) {
    let issues = env().compile(text).expect_err(text).list;
    assert_eq!(issues.first().and_then(|issue| issue.help.as_deref()), Some(expected), "{text}");
}

#[test]
fn types_are_deduced() {
    has_type("1 + 2", "int");
    has_type("[1, 2][0]", "int");
    has_type("[[], [[]], [[[]]]]", "list(list(list(list(dyn))))");
    has_type("[1, 'a']", "list(dyn)");
    has_type("{'a': 1, 'b': 2u}", "map(string, dyn)");
    has_type("d + 1", "int");
    has_type("d == 1", "bool");
    has_type("object.items.map(i, i.size)", "list(int)");
    has_type("object.items.filter(i, i.size > 1)[0].name", "string");
    has_type("[].map(x, x)[0].foo", "dyn");
    has_type("w == null ? 1 : w", "wrapper(int)");
    has_type("true ? 1 : n", "int");
    has_type("optional.of(1).optMap(v, [v])", "optional_type(list(int))");
    has_type("object.?spec.name", "optional_type(string)");
    has_type("{'a': {1: 2}}.?a[?1].orValue(3)", "int");
    has_type("object.items.all(i, s, i < 1 && s.size < 2)", "bool");
    has_type("a.b.c", "string");
    has_type("Spec{size: 1, ?name: optional.of('a')}", "Spec");
    has_type("type(1) == int", "bool");
    has_type("[optional.none(), optional.of(1)]", "list(optional_type(int))");
}

#[test]
fn errors_are_cel_gos() {
    fails("x.y + object.nope", &[(1, "undeclared reference to 'x' (in container '')"), (13, "undefined field 'nope'")]);
    fails(
        "1 + 'a' + true",
        &[
            (3, "found no matching overload for '_+_' applied to '(int, string)'"),
            (9, "found no matching overload for '_+_' applied to '(!error!, bool)'"),
        ],
    );
    fails("1 && 2", &[(1, "expected type 'bool' but found 'int'"), (6, "expected type 'bool' but found 'int'")]);
    fails(
        "object.spec.name.startsWith(1)",
        &[(28, "found no matching overload for 'startsWith' applied to 'string.(int)'")],
    );
    fails(
        "n.all(x, true)",
        &[(1, "expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)")],
    );
    fails("[1].exists(x, 'a')", &[(15, "expected type 'bool' but found 'string'")]);
    fails(
        "[1].filter(x, 1)",
        &[(11, "found no matching overload for '_?_:_' applied to '(int, list(int), list(int))'")],
    );
    fails("'a'.size", &[(4, "type 'string' does not support field selection")]);
    fails("has(object.spec.x)", &[(4, "undefined field 'x'")]);
    fails("[?1]", &[(3, "expected type 'optional_type(int)' but found 'int'")]);
    fails(
        "Spec{size: 'a', nope: 1}",
        &[(10, "expected type of field 'size' is 'int' but provided type is 'string'"), (21, "undefined field 'nope'")],
    );
    fails("x.y.Z{a: b}", &[(6, "undeclared reference to 'x.y.Z' (in container '')")]);
    fails(
        "math.greatest(1)",
        &[
            (1, "undeclared reference to 'math' (in container '')"),
            (14, "undeclared reference to 'greatest' (in container '')"),
        ],
    );
    fails("n == 'a'", &[(3, "found no matching overload for '_==_' applied to '(int, string)'")]);
    fails("n == null", &[(3, "found no matching overload for '_==_' applied to '(int, null)'")]);
}

#[test]
fn mixed_literals_are_refused_where_asked() {
    let env = env().extend().homogeneous_aggregates(true).build();
    fails_in(&env, "[1, 'a', true]", &[(5, "expected type 'int' but found 'string'")]);
    fails_in(
        &env,
        "{'a': 1, 2: 'b'}",
        &[(10, "expected type 'string' but found 'int'"), (13, "expected type 'int' but found 'string'")],
    );
    fails_in(&env, "[1, dyn('a')]", &[(8, "expected type 'int' but found 'dyn'")]);
    assert!(env.compile("[n, w]").is_ok());
}

#[test]
fn errors_help() {
    helps("object.sepc", "did you mean `spec`?");
    helps("objct.spec", "did you mean `object`?");
    helps("'a'.startswith('b')", "did you mean `startsWith`?");
    helps("[1].all(x)", "the macro `all` takes 2 or 3 arguments, not 1");
    helps("startsWith('a', 'b')", "`startsWith` is a method, not a function");
    helps("[1].map(element, elemnt)", "did you mean `element`?");
}

#[test]
fn containers_and_shadowing() {
    let env = Env::standard()
        .container("com.example")
        .variable("com.example.y", Type::Int)
        .variable("y", Type::String)
        .variable("y.z", Type::Bool)
        .build();
    let of = |text: &str| env.compile(text).unwrap_or_else(|e| panic!("{text}: {e}")).result_type().to_string();
    assert_eq!(of("y"), "int");
    assert_eq!(of(".y"), "string");
    assert_eq!(of("y.z"), "bool");
    assert_eq!(of("[{'z': 0}].map(y, y.z)"), "list(int)");
    assert_eq!(of("[1].map(y, .y)"), "list(string)");
}

#[test]
fn attributes_are_what_is_read() {
    #[track_caller]
    fn reads(text: &str, expected: &[&str]) {
        let attributes = env().compile(text).unwrap().attributes();
        let found: Vec<String> = attributes
            .iter()
            .map(|a| a.fields.iter().fold(a.variable.to_string(), |path, field| format!("{path}/{field}")))
            .collect();
        assert_eq!(found, expected, "{text}");
    }
    reads("object.items.map(o, o.size)", &["object/items"]);
    reads(
        "object.spec.name + object.spec.labels['app'] + string(object.spec.size)",
        &["object/spec/labels/app", "object/spec/name", "object/spec/size"],
    );
    reads("object.spec == Spec{} && object.spec.size == n", &["n", "object/spec"]);
    reads("object.spec.labels[object.spec.name]", &["object/spec/labels", "object/spec/name"]);
    reads("object.?spec.?size.orValue(1) + object.spec.a__dot__b", &["object/spec/a.b", "object/spec/size"]);
    reads("has(object.spec.size) ? 1 : 2", &["object/spec/size"]);
    reads("a.b.c == 'x' && d.e[0].f", &["a.b.c", "d/e"]);
    reads("d.optMap(v, v.x)", &["d"]);
    reads("1 + 2", &[]);
}

/// Chains of macros double types at each link, and nest them deeper than literals can.
#[test]
fn types_stay_bounded() {
    let on_small_stack = |text: String| {
        let run = move || env().compile(&text).map(|checked| checked.result_type().to_string());
        std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap()
    };
    let doubled = format!("[1]{}", ".map(a, {a: a})".repeat(100));
    assert!(on_small_stack(doubled).unwrap_err().to_string().contains("too deep or too large"));
    let deepened = format!("[1]{}", format!(".map(a, {}a{})", "[".repeat(200), "]".repeat(200)).repeat(100));
    assert!(on_small_stack(deepened).unwrap_err().to_string().contains("too deep or too large"));
    let nested = format!("{}1{}", "[".repeat(249), "]".repeat(249));
    assert!(on_small_stack(nested).is_ok());
    let optional = format!("optional.of(1){}", ".optMap(v, v + 1)".repeat(200));
    assert_eq!(on_small_stack(optional).unwrap(), "optional_type(int)");
}
