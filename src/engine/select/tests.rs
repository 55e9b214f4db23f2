//! Paths over bodies: what the RFC says, what jsonpath-rust says, and what takes too long.
use jsonpath_rust::query::js_path_process;

use super::*;

const BOOKS: &str = r#"{"books": [
  {"title": "a", "price": 8, "tags": ["x", "y"], "isbn": "1-2"},
  {"title": "b", "price": 12.5, "tags": []},
  {"title": "cc", "price": 8.0, "of": {"title": "d"}}
], "limit": 10, "n": null, "": {"k.ey": [[1, 2], [3]]}}"#;

fn value(json: &str) -> Value {
    serde_json::from_str(json).unwrap()
}

fn all(path: &str, body: &Value) -> Result<Value, String> {
    parse(&Select::All(path.into())).and_then(|selection| selection.of(body))
}

#[track_caller]
fn check(path: &str, expected: &str) {
    let found = all(path, &value(BOOKS)).unwrap_or_else(|error| panic!("{path}: {error}"));
    assert_eq!(serde_json::to_string(&found).unwrap(), expected, "{path}");
}

#[test]
fn paths_lead_where_the_rfc_says() {
    check("$.limit", "[10]");
    check("$['books'][0]['title', 'price', 'none']", r#"["a",8]"#);
    check("$.books[-1].title", r#"["cc"]"#);
    check("$.books[*].title", r#"["a","b","cc"]"#);
    check("$.books[:2].title", r#"["a","b"]"#);
    check("$.books[::-1].title", r#"["cc","b","a"]"#);
    check("$.books[1::9007199254740991].title", r#"["b"]"#);
    check("$.books[0:9:0]", "[]");
    check("$.books[0,0].title", r#"["a","a"]"#);
    check("$..title", r#"["a","b","cc","d"]"#);
    check("$['']['k.ey'][*][0]", "[1,3]");
    check("$.books[?@.price == 8].title", r#"["a","cc"]"#);
    check("$.books[?@.price < $.limit && @.isbn].title", r#"["a"]"#);
    check("$.books[?!@.isbn || @.title == 'a'].title", r#"["a","b","cc"]"#);
    check("$.books[?count(@.tags[*]) >= 2].title", r#"["a"]"#);
    check("$.books[?length(@.title) == 2].title", r#"["cc"]"#);
    check("$.books[?@.none == @.nothing].title", r#"["a","b","cc"]"#);
    check("$.books[?match(@.isbn, '[0-9]-[0-9]')].title", r#"["a"]"#);
    check("$.books[?match(@.title, 'c')].title", "[]");
    check("$.books[?search(@.title, 'c')].title", r#"["cc"]"#);
    check("$.books[?value(@..title) == 'a'].title", r#"["a"]"#);
    check("$[?@ == null]", "[null]");
    check("$[?@ > 'a']", "[]");
}

#[test]
fn one_is_exactly_one() {
    let one = |path: &str| parse(&Select::One(path.into())).unwrap().of(&value(BOOKS));
    assert_eq!(one("$.limit"), Ok(Value::Int(10)));
    assert_eq!(one("$.n"), Ok(Value::Null));
    assert_eq!(one("$.none"), Err("`select` finds nothing in the answer".into()));
    assert!(one("$..title").is_err_and(|error| error.starts_with("`select` finds 4 values")));
}

#[test]
fn what_is_no_path_is_refused() {
    let deep = format!("$[?{}@{}]", "(".repeat(30), ")".repeat(30));
    let very = format!("$[?{}", "length(".repeat(140));
    let long = format!("$.{}", "a".repeat(1100));
    let quoted = format!("$['{}']", "[".repeat(100));
    assert!(parse(&Select::One(quoted.as_str().into())).is_ok());
    for path in [
        "",
        "books",
        "$.",
        "$..",
        "$[",
        "$[?count(1) == 1]",
        "$[?length(@)]",
        "$[?length(@..a) == 1]",
        "$[?match(@.a, @.b)]",
        "$[?match(@.a, '(')]",
        "$[?in(@.a, $.b)]",
        "$[?length(length(length(length(length(!)))))]",
        &deep,
        &very,
        &long,
    ] {
        assert!(parse(&Select::One(path.into())).is_err(), "{path}");
    }
}

/// Those whose meaning jsonpath-rust gives as well.
#[test]
fn paths_lead_where_jsonpath_rust_says() {
    let steps = [
        ".a",
        "['b']",
        "[0]",
        "[-1]",
        "[*]",
        ".*",
        "..a",
        "..*",
        "..[0]",
        "[1:]",
        "[::-2]",
        "[-2:]",
        "[0, 'a']",
        "[?@.a]",
        "[?@ == 1]",
        "[?@.a < @.b]",
        "[?@[0] == $[0]]",
        "[?!@.b && @ != 'x']",
        "[?count(@.*) == 2]",
        "[?length(@) == 1]",
        "[?@.a == 'x' || @ > 0]",
    ];
    let leaves = ["1", "0", "-1.5", "\"x\"", "\"\"", "null", "true", "[]", "{}"];
    let mut state = 7_u64;
    let mut next = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).unwrap() % n
    };
    let mut selected = 0;
    for _ in 0..4000 {
        let mut body = leaves[next(leaves.len())].to_owned();
        for _ in 0..next(5) {
            let other = leaves[next(leaves.len())];
            body = match next(3) {
                0 => format!("[{body}, {other}, {body}]"),
                1 => format!(r#"{{"a": {body}, "b": {other}}}"#),
                _ => format!(r#"[{other}, {{"b": {body}}}]"#),
            };
        }
        let path: String = std::iter::once("$").chain((0..=next(3)).map(|_| steps[next(steps.len())])).collect();
        let json: serde_json::Value = serde_json::from_str(&body).unwrap();
        let query = jsonpath_rust::parser::parse_json_path(&path).unwrap();
        let theirs: Vec<&serde_json::Value> =
            js_path_process(&query, &json).unwrap().into_iter().map(|node| node.val).collect();
        let ours = serde_json::to_value(all(&path, &value(&body)).unwrap()).unwrap();
        assert_eq!(ours, serde_json::to_value(&theirs).unwrap(), "{path} of {body}");
        selected += theirs.len();
    }
    assert!(selected > 2000, "{selected}");
}

#[test]
fn nothing_takes_long() {
    let zeros = format!("[{}0]", "0,".repeat(200_000));
    let same = format!("[[{0}0],[{0}0]{1}]", "0,".repeat(50_000), ",0".repeat(50_000));
    let text = "a".repeat(1 << 20);
    let texts = format!("[\"{text}\",\"{text}\"{}]", ",0".repeat(100_000));
    let deep = format!("{}{}", "[".repeat(120), "]".repeat(120));
    let key = format!(r#"{{"{text}": {zeros}}}"#);
    for (path, body) in [
        ("$..[?count($..*) > 0]", &zeros),
        ("$[?@ == $[199999] && $..[?@ == 1]]", &zeros),
        ("$[?$[0] == $[1]]", &same),
        ("$[?$[0] == $[1]]", &texts),
        ("$[?$[0] <= $[1]]", &texts),
        ("$[?length($[0]) == 1]", &texts),
        ("$[?search($[0], 'b')]", &texts),
        ("$[*,*,*,*,*,*,*,*,*,*,*,*,*,*,*,*,*,*,*,*]", &zeros),
    ] {
        assert!(all(path, &value(body)).is_err_and(|error| error.contains("too much")), "{path}");
    }
    assert!(all("$..*..*..*..*..*..*", &value(&deep)).is_err());
    // What is plain has room in the largest answer.
    assert!(all("$..[?@ > 0]", &value(&zeros)).is_ok_and(|found| found == Value::List(List::from(vec![]))));
    let Ok(Value::List(found)) = all("$.*[*]", &value(&key)) else { panic!() };
    assert_eq!(found.len(), 200_001);
}
