//! Tests of the module above.
use super::*;
use crate::engine::diagnostic::Diagnostic;

fn one(text: &str) -> Document {
    let manifest = parse("a.yaml", text);
    assert_eq!(manifest.errors, vec![], "{text}");
    assert_eq!(manifest.documents.len(), 1, "{text}");
    manifest.documents.into_iter().next().unwrap()
}

fn path(text: &str) -> FieldPath {
    text.split('.').filter(|s| !s.is_empty()).fold(FieldPath::root(), |path, step| match step.parse() {
        Ok(index) => path.index(index),
        Err(_) => path.field(step),
    })
}

/// The text behind the part `needle` of the decoded string at `at`.
#[track_caller]
fn check_within(text: &str, at: &str, needle: &str, expected: &str) {
    let document = one(text);
    let path = path(at);
    let Some(Value::String(value)) = document.value_at(path.steps()) else { panic!("{at} is no string") };
    let start = value.find(needle).unwrap_or_else(|| panic!("{needle:?} is not in {value:?}"));
    let range = document
        .locate(&path, &Place::Within(start..start + needle.len()))
        .unwrap_or_else(|| panic!("{needle:?} of {value:?} was not found in {text:?}"));
    assert_eq!(&text[range], expected, "{text}");
}

#[test]
fn parts_of_scalars_of_every_style() {
    check_within("a: one two three\n", "a", "two", "two");
    check_within("a: one\n  two\n\n  three\n", "a", "two\nthree", "two\n\n  three");
    check_within("a: one\n  two\n", "a", "e t", "e\n  t");
    check_within("a: ${x.y} # no ${x.z}\n", "a", "x.y", "x.y");
    check_within("- plain\n- ünï cödé\n", "1", "cödé", "cödé");
    check_within("a: 'it''s here'\n", "a", "s here", "s here");
    check_within("a: 'it''s here'\n", "a", "'", "''");
    check_within("a: 'one  \n   two'\n", "a", "one two", "one  \n   two");
    check_within(r#"a: "x\ty z\u00e4\n\U0001F600!""#, "a", "z", "z");
    check_within(r#"a: "x\ty z\u00e4\n\U0001F600!""#, "a", "ä", r"\u00e4");
    check_within(r#"a: "x\ty z\u00e4\n\U0001F600!""#, "a", "\u{1F600}!", r"\U0001F600!");
    check_within("{\"a\": \"\\ud83d\\ude00 x\"}", "a", "x", "x");
    check_within("a: \"one \\\n   two\n\n   three\"\n", "a", "one two\nthree", "one \\\n   two\n\n   three");
    check_within("a: |\n  one\n  two x\n", "a", "two", "two");
    check_within("a: |\n  one\n  two x\n", "a", "one\ntwo", "one\n  two");
    check_within("a: |-\n\n    one\n\n      two\n    three\nb: 1\n", "a", "two\nth", "two\n    th");
    check_within("a: |+\n  one\n\n\nb: 1\n", "a", "e\n\n\n", "e\n\n\n");
    check_within("a: |2\n    one\n  two\n", "a", "  one", "  one");
    check_within(
        "a: >\n  one\n  two\n\n  three\n    more\n  four\n",
        "a",
        "one two\nthree\n  more\nfour\n",
        "one\n  two\n\n  three\n    more\n  four\n",
    );
    check_within("a: >\n  one\n  two\n\n  three\n    more\n  four\n", "a", "more", "more");
    check_within("a: >-\n\n  one\n\n\n  two\n", "a", "two", "two");
    check_within("- - a: >-\n      one\n      ${two.x}\n    b: 1\n", "0.0.a", "two.x", "two.x");
    check_within("a: |\r\n  one\r\n  two\r\n", "a", "two", "two");
    check_within("a: &x |\n  one two\nb: *x\n", "b", "two", "two");
    check_within("a: [x, 'y z', \"w\"]\n", "a.1", "z", "z");
    check_within("a: !!str 12345\n", "a", "34", "34");
    check_within("a: |\n  one\n  # no comment\n", "a", "# no", "# no");
    check_within("a:\n- x: |\n    if (\n      b\n    )\n  y: 2\n", "a.0.x", "b\n)", "b\n    )");
}

#[test]
fn an_empty_part_is_a_place() {
    let text = "a: |-\n  one\n  two\nb: ''\n";
    let document = one(text);
    assert_eq!(document.locate(&path("a"), &Place::Within(4..4)), Some(14..14));
    assert_eq!(document.locate(&path("a"), &Place::Within(7..7)), Some(17..17));
    assert_eq!(document.locate(&path("b"), &Place::Within(0..0)).map(|r| r.is_empty()), Some(true));
}

#[test]
fn values_and_keys() {
    let text = "a:\n  b: 1\n  'c d': {e: [1, {f: 2}]}\ng:\n- h: |\n    x\n    y\n\n- \n  i: 3\nj: &m {k: 1}\nl:\n  <<: *m\n  o: 5\n";
    let document = one(text);
    let value = |at: &str| document.locate(&path(at), &Place::Value).map(|r| &text[r]);
    let key = |at: &str| document.locate(&path(at), &Place::Key).map(|r| &text[r]);
    assert_eq!(value("a.b"), Some("1"));
    assert_eq!(key("a.b"), Some("b"));
    assert_eq!(key("a.c d"), Some("'c d'"));
    assert_eq!(value("a.c d.e"), Some("[1, {f: 2}]"));
    assert_eq!(value("a.c d.e.1.f"), Some("2"));
    assert_eq!(value("a"), Some("b: 1\n  'c d': {e: [1, {f: 2}]}"));
    assert_eq!(value("g.0.h"), Some("x\n    y"));
    assert_eq!(value("g.1"), Some("i: 3"));
    assert_eq!(key("g.1"), None);
    assert_eq!(value("l.k"), Some("1"));
    assert_eq!(value("l.o"), Some("5"));
    assert_eq!(value("x"), None);
    assert_eq!(&text[document.nearest(&path("a.x.y"), &Place::Value)], "a");
    assert_eq!(&text[document.nearest(&path("g.1.x"), &Place::Value)], "i: 3");
    assert_eq!(document.position(&path("a.c d"), &Place::Key), Position { line: 3, column: 3 });
}

#[test]
fn several_documents() {
    let manifest = parse("a.yaml", "# nothing\n---\na: 1\n---\n---\n{\"b\": 2}\n...\n---\nnull\n");
    assert_eq!(manifest.errors, vec![]);
    assert_eq!(manifest.documents.len(), 2);
    assert_eq!(manifest.documents[1].position(&path("b"), &Place::Value), Position { line: 6, column: 7 });
    assert_eq!(parse("a.json", "").documents.len(), 0);
}

#[test]
fn mistakes_have_places() {
    for (text, expected) in [
        ("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n", "5:3: duplicate key `c`"),
        ("{\"a\": 1, \"a\": 2}", "1:10: duplicate key `a`"),
        ("a: .nan\n", "1:4: `.nan` is no JSON number; quote it if a string is meant"),
        ("a: &a [*a]\n", "1:8: an alias cannot stand within what it stands for"),
        ("? [a]\n: 1\n", "1:3: a key must be a scalar"),
        ("<<: 1\n", "1:1: `<<` merges maps"),
    ] {
        let errors: Vec<_> = parse("a.yaml", text).errors.iter().map(ToString::to_string).collect();
        assert_eq!(errors, [expected], "{text}");
    }
    for text in ["a: [\n", "a: b: c\n", "a:\n\tb: 1\n", "a: *nowhere\n", "a: 'x\n"] {
        assert_eq!(parse("a.yaml", text).errors.len(), 1, "{text}");
    }
}

#[test]
fn bombs_and_depths_are_errors() {
    let bomb = "a: &a [1,1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n\
                c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n\
                e: [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\n";
    assert!(parse("a.yaml", bomb).errors[0].message.contains("at most 10000"));
    for deep in ["[".repeat(100_000), "{a: ".repeat(100_000), "- ".repeat(100_000), "? ".repeat(100_000)] {
        assert_eq!(parse("a.yaml", deep).errors.len(), 1);
    }
}

#[test]
fn diagnostics_are_shown_in_the_authors_text() {
    let text = "spec:\n  a: x\n\tb: 1\n";
    assert_eq!(parse("a.yaml", text).errors.len(), 1);
    let text = "spec:\n  status:\n    wide: \"${世界.nam}\" # 世界\n    many: |\n      ${a +\n        b}\n";
    let document = one(text);
    let diagnostics = [
        Diagnostic::error(path("spec.status.wide"), "undefined field `nam`")
            .at(Place::Within(9..12))
            .help("did you mean `name`?"),
        Diagnostic::warning(path("spec.status.many"), "no such overload").at(Place::Within(2..9)),
        Diagnostic::error(path("spec.missing"), "required"),
    ];
    let shown = render(&diagnostics, &document, Color::Never);
    let expected = "\
error: undefined field `nam`
 --> a.yaml:3:17
  |
3 |     wide: \"${世界.nam}\" # 世界
  |                   ^^^
  |
  = help: did you mean `name`?

warning: no such overload
 --> a.yaml:5:9
  |
5 |         ${a +
  |  _________^
6 | |         b}
  | |_________^

error: required
 --> a.yaml:1:1
  |
1 | spec:
  | ^^^^

";
    assert_eq!(shown, expected, "{shown}");
    assert!(render(&diagnostics, &document, Color::Always).contains('\u{1b}'));
}

/// Places of all strings of a document: whole, and each part between two characters.
fn all_places(document: &Document, path: &FieldPath, value: &Value, found: &mut [usize; 2]) {
    match value {
        Value::Map(map) => {
            for (key, value) in map.iter() {
                let path = path.field(&key.to_string());
                document.nearest(&path, &Place::Key);
                all_places(document, &path, value, found);
            }
        }
        Value::List(list) => {
            for (i, value) in list.as_slice().iter().enumerate() {
                all_places(document, &path.index(i), value, found);
            }
        }
        Value::String(text) => {
            for (start, c) in text.char_indices() {
                let place = Place::Within(start..start + c.len_utf8());
                let range = document.nearest(path, &place);
                assert!(document.text.get(range).is_some(), "{:?}", document.text);
                found[usize::from(document.locate(path, &place).is_some())] += 1;
            }
        }
        _ => {}
    }
}

#[test]
fn no_text_does_harm() {
    let seeds = [
        "a: |\n  one\n\n  two\nb: >-\n  x\n   y\n\n  z\nc: 'it''s\n  b'\nd: \"\\u00e4\\\n  x\\ty\"\n",
        "- &a {b: [1, 2], c: d e}\n- *a\n- <<: *a\n  f: ünï\n---\n{\"x\": \"y\"}\n...\n# z\n",
        "a: |2-\n    x\n  y\n\n\nb: >+\n\n  a\n  b\n\n# c\n? d\n: - - e\n    - f\n",
    ];
    let letters: Vec<char> = "ab:- \n\t'\"\\|>#&*{}[],?!%@`~<ü😀\r0123+.u".chars().collect();
    // A linear congruential generator (Knuth's MMIX): the same texts on every run.
    let mut state = 42_u64;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    let mut found = [0, 0];
    for _ in 0..3_000 {
        let mut text: Vec<char> = seeds[random(seeds.len())].chars().collect();
        for _ in 0..=random(4) {
            let (at, letter) = (random(text.len()), letters[random(letters.len())]);
            match random(3) {
                0 => text[at] = letter,
                1 => text.insert(at, letter),
                _ => drop(text.remove(at)),
            }
        }
        let manifest = parse("a.yaml", text.into_iter().collect::<String>());
        for error in &manifest.errors {
            render_error(error, &manifest, Color::Never);
        }
        for document in &manifest.documents {
            all_places(document, &FieldPath::root(), &document.value, &mut found);
        }
    }
    let [missed, located] = found;
    assert!(located > 10_000 && missed * 100 < located, "{located} located, {missed} not");
}
