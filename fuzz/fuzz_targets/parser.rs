//! Any text: parsing gives a tree or issues with places inside the text; what is printed parses to the same print.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

static ENV: LazyLock<cel::Env> = LazyLock::new(|| cel::Env::standard().build());

fuzz_target!(|text: &str| {
    match ENV.parse(text) {
        Ok(ast) => {
            let printed = ast.to_string();
            let again = ENV.parse(&printed).unwrap_or_else(|issues| panic!("{text:?} prints {printed:?}: {issues}"));
            assert_eq!(again.to_string(), printed, "printing what was printed, of {text:?}");
        }
        Err(issues) => {
            assert!(!issues.0.is_empty(), "no tree and no issue: {text:?}");
            for issue in issues.0 {
                assert!(text.get(issue.span.start as usize..issue.span.end as usize).is_some(), "{issue:?} of {text:?}");
            }
        }
    }
});
