//! No credential in the output of a run with trace logging over all of these tests.
//!
//! The test runs all of them once more with everything logged, and looks at what they print.
use std::process::Command;

/// Tells the tests to log.
pub(crate) const TRACED: &str = "CELANDINE_TRACED";

/// What is sent as credentials in any test, and what is made of it.
const SECRETS: [&str; 9] = [
    "hunter2",
    "t0k3n",
    "0ne-s3cret",
    "tw0-s3cret",
    "open sesame",
    // Of `jane:hunter2`, `c:hunter2`, `cli%3Aent:open%20sesame` and `jane:s3cr/t-hunter2`.
    "amFuZTpodW50ZXIy",
    "YzpodW50ZXIy",
    "Y2xpJTNBZW50Om9wZW4lMjBzZXNhbWU",
    "amFuZTpzM2NyL3QtaHVudGVyMg",
];

/// Logs everything to standard error, where this is such a run.
pub(crate) fn begin() {
    if std::env::var_os(TRACED).is_some() {
        // Another test has begun already, or this one does.
        let _ =
            tracing_subscriber::fmt().with_env_filter("trace").with_writer(std::io::stderr).with_ansi(false).try_init();
    }
}

#[test]
fn no_test_prints_a_credential() {
    if std::env::var_os(TRACED).is_some() {
        return;
    }
    let mut all = Command::new(std::env::current_exe().unwrap());
    let output = all.args(["--nocapture", "--test-threads=2"]).env(TRACED, "1").output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    assert!(output.status.success(), "{}", text.lines().filter(|line| line.contains("panicked")).collect::<String>());
    assert!(
        text.contains("TRACE") && text.contains("answered") && text.contains("refused address"),
        "nothing is logged"
    );
    for secret in SECRETS {
        let printed =
            text.lines().find(|line| line.contains(secret)).map(|line| line.chars().take(300).collect::<String>());
        assert_eq!(printed, None, "{secret} was printed");
    }
}
