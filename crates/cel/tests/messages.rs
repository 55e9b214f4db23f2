//! What an author reads: `messages/*.txt` hold an expression a block, what is said of it as Kubernetes prints it, and the advice.
//!
//! ```text
//! ==== x = 1
//! ERROR: <input>:1:3: Syntax error: token recognition error at: '= '
//!  | x = 1
//!  | ..^
//! help: did you mean `==`?
//! ```
//!
//! `\n` in an expression is a line's end. `UPDATE_GOLDEN=1` writes what comes out; the difference is to be reviewed.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::result_large_err,
    unreachable_pub,
    reason = "tests fail by panicking"
)]
use std::path::Path;

use cel::{Env, EnvBuilder, Type, library, limits::MAX_ISSUES};

const BLOCK: &str = "==== ";

fn env() -> Env {
    let libraries = library::kubernetes().into_iter().chain([library::bindings(), library::math()]);
    let variables = [
        ("object", Type::Dyn),
        ("names", Type::list(Type::String)),
        ("x", Type::Int),
        ("u", Type::Uint),
        ("d", Type::Double),
        ("s", Type::String),
        ("t", Type::Timestamp),
        ("o", Type::optional(Type::Int)),
        ("m", Type::map(Type::String, Type::Int)),
    ];
    let env = libraries.fold(Env::builder(), EnvBuilder::library).homogeneous_aggregates(true);
    variables.into_iter().fold(env, |env, (name, ty)| env.variable(name, ty)).build()
}

fn said(env: &Env, text: &str) -> String {
    let Err(issues) = env.compile(text).and_then(|checked| env.program(&checked)) else {
        return "accepted\n".to_owned();
    };
    let one = |issue: &cel::Issue| {
        let help = issue.help.as_ref().map(|help| format!("help: {help}\n")).unwrap_or_default();
        format!("{}\n{help}", issue.render(text))
    };
    issues.list.iter().map(one).collect()
}

#[test]
fn authors_are_told_what_is_wrong_and_what_to_do() {
    let (env, mut blocks) = (env(), 0);
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/messages")).unwrap() {
        let path = entry.unwrap().path();
        let golden = std::fs::read_to_string(&path).unwrap();
        let mut said_now = String::new();
        for line in golden.lines() {
            match line.strip_prefix(BLOCK) {
                Some(text) => said_now += &format!("{line}\n{}", said(&env, &text.replace("\\n", "\n"))),
                None if line.starts_with("//") => said_now += &format!("{line}\n"),
                None => {}
            }
            blocks += usize::from(line.starts_with(BLOCK));
        }
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&path, said_now).unwrap();
        } else {
            assert_eq!(said_now, golden, "{} differs: UPDATE_GOLDEN=1 writes what comes out", path.display());
        }
    }
    assert!(blocks > 100, "only {blocks} expressions");
}

#[test]
fn what_is_not_listed_is_counted() {
    let issues = env().compile(&format!("[{}]", vec!["y"; 2_345].join(","))).unwrap_err();
    assert_eq!((issues.list.len(), issues.omitted), (MAX_ISSUES, 2_345 - MAX_ISSUES));
    assert!(issues.to_string().ends_with("; 2245 more errors were truncated"));
    assert!(issues.render("y").ends_with("\n2245 more errors were truncated"));
    assert_eq!(env().compile("y + z").unwrap_err().omitted, 0);
}

/// Two mistakes are two errors if things begin anew between them; whatever else goes wrong comes of the first.
#[test]
fn one_mistake_is_one_error() {
    let count = |text: &str| env().parse(text).unwrap_err().list.len();
    assert_eq!(count("x = 1"), 1);
    assert_eq!(count("x = 1 && s = 'a'"), 2);
    assert_eq!(count("[x = 1, s = 'a', 'b' 'c']"), 3);
    assert_eq!(count("s == 'abc && x = 1"), 1);
    assert_eq!(count("let y = x; y = 2; y"), 1);
    assert_eq!(count("${x && s == '}'}"), 1);
    assert_eq!(count(&"#".repeat(100_000)), 1);
}
