//! Any text: parsing gives a tree or issues with places inside the text; what is printed parses to the same tree; checking,
//! planning and listing what is read end, whatever the tree.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

static ENV: LazyLock<cel::Env> = LazyLock::new(|| {
    let libraries = cel::library::all().into_iter().chain([cel::library::blocks()]);
    let env = libraries.fold(cel::Env::builder(), cel::EnvBuilder::library);
    env.variable("a", cel::Type::Dyn).escaped_identifiers(true).build()
});

fuzz_target!(|text: &str| {
    match ENV.parse(text) {
        Ok(ast) => {
            let printed = ast.to_string();
            // Parentheses that keep the shape of a chain may nest deeper than the text did.
            match ENV.parse(&printed) {
                Ok(again) => assert!(again.is_same(&ast), "{text:?} prints {printed:?}, which is {again}"),
                Err(issues) => {
                    let limited = issues.list.iter().all(|issue| issue.at.is_none());
                    assert!(limited, "{text:?} prints {printed:?}: {issues}");
                }
            }
            match ENV.check(ast) {
                Ok(checked) => {
                    let _ = (checked.attributes(), checked.result_type().to_string(), ENV.program(&checked).is_ok());
                }
                Err(issues) => places_are_within(&issues, text),
            }
        }
        Err(issues) => places_are_within(&issues, text),
    }
});

fn places_are_within(issues: &cel::Issues, text: &str) {
    assert!(!issues.list.is_empty(), "no tree and no issue: {text:?}");
    for issue in &issues.list {
        assert!(text.get(issue.span.start as usize..issue.span.end as usize).is_some(), "{issue:?} of {text:?}");
    }
    let _ = issues.render(text);
}
