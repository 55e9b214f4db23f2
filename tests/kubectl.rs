//! Real kubectl against a real server: each transcript of `tests/kubectl` is shell commands and what they print.
//!
//! `$ command`, then its stdout, its stderr after `! `, and `? CODE` unless it succeeded. A file whose first line is
//! `# clients: all` is run with every kubectl there is, and all must print the same.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::result_large_err,
    unreachable_pub,
    reason = "tests fail by panicking"
)]
mod support;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

#[test]
fn transcripts() {
    let clients = clients();
    if clients.is_empty() {
        eprintln!("SKIPPED: no kubectl on PATH");
        return;
    }
    let url = serve();
    let mut different = Vec::new();
    support::transcripts("tests/kubectl", |text| {
        let usual = clients.iter().find(|(minor, _)| minor == "32").unwrap_or(&clients[0]);
        let first = run(text, &usual.1, &url);
        if text.starts_with("# clients: all") {
            std::thread::scope(|scope| {
                let url = &url;
                let others = clients.iter().filter(|c| *c != usual);
                let others: Vec<_> = others.map(|(m, b)| (m, scope.spawn(move || run(text, b, url)))).collect();
                for (minor, out) in others {
                    let out = out.join().unwrap();
                    if out != first {
                        let diff = similar::TextDiff::from_lines(&first, &out);
                        different.push(diff.unified_diff().header("1.32", &format!("1.{minor}")).to_string());
                    }
                }
            });
        }
        first
    });
    assert!(different.is_empty(), "clients print different things\n{}", different.join("\n"));
}

/// Minor versions and binaries: those beside a dispatching kubectl, or the one that is there.
fn clients() -> Vec<(String, PathBuf)> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let Some(found) = std::env::split_paths(&path).map(|d| d.join("kubectl")).find(|k| k.is_file()) else {
        return Vec::new();
    };
    let real = fs::canonicalize(&found).unwrap();
    let mut beside: Vec<_> = fs::read_dir(real.parent().unwrap())
        .unwrap()
        .filter_map(|e| {
            let path = e.unwrap().path();
            let minor = path.file_name()?.to_str()?.strip_prefix("kubectl.1.")?.to_owned();
            Some((minor, path))
        })
        .collect();
    beside.sort();
    if beside.is_empty() { vec![("?".to_owned(), real)] } else { beside }
}

/// A server that lives as long as the test.
fn serve() -> String {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let listen = "127.0.0.1:0".parse().unwrap();
            let config = celandine::server::Config { listen, ..celandine::server::Config::default() };
            let server = celandine::server::bind(config, support::workspaces()).await.unwrap();
            sender.send(server.url()).unwrap();
            server.run(std::future::pending()).await;
        });
    });
    receiver.recv().unwrap()
}

fn run(text: &str, binary: &Path, url: &str) -> String {
    let home = tempfile::tempdir().unwrap();
    let bin = home.path().join("bin");
    fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(binary, bin.join("kubectl")).unwrap();
    fs::write(home.path().join("config"), kubeconfig(url)).unwrap();
    let path = std::env::join_paths(
        [bin].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    )
    .unwrap();
    let mut out = String::new();
    for line in text.lines() {
        if line.starts_with('#') {
            out.push_str(&format!("{line}\n"));
        }
        let Some(command) = line.strip_prefix("$ ") else { continue };
        out.push_str(&format!("\n{line}\n"));
        let result = Command::new("sh")
            .args(["-c", command])
            .current_dir(support::path("tests/fixtures/requests"))
            .env("PATH", &path)
            .env("HOME", home.path())
            .env("KUBECONFIG", home.path().join("config"))
            .env("SERVER", url)
            .output()
            .unwrap();
        let stdout = String::from_utf8_lossy(&result.stdout).into_owned();
        let stderr = String::from_utf8_lossy(&result.stderr).into_owned();
        let mut shown: String = stdout.lines().map(|l| format!("{}\n", l.trim_end())).collect();
        shown.extend(stderr.lines().map(|l| format!("! {}\n", l.trim_end())));
        if !result.status.success() {
            shown.push_str(&format!("? {}\n", result.status.code().unwrap_or(-1)));
        }
        out.push_str(&alike(&support::stable(&shown, url)));
    }
    out.trim_start().to_owned()
}

/// Without what differs between clients and does not matter: the width of columns, empty lines, client-go's own log.
fn alike(text: &str) -> String {
    let mut out = text.to_owned();
    for (pattern, replacement) in
        [(r"(?m)^! E\d{4} .*\n", ""), (r"\b(\d+[smhdy]){1,2} {2,}", "AGE   "), (r"\b {3,}", "   "), (r"\n{2,}", "\n")]
    {
        out = regex::Regex::new(pattern).unwrap().replace_all(&out, replacement).into_owned();
    }
    out
}

fn kubeconfig(url: &str) -> String {
    format!(
        "apiVersion: v1
kind: Config
current-context: root
clusters: [{{name: root, cluster: {{server: '{url}'}}}}, {{name: team, cluster: {{server: '{url}/clusters/root:team'}}}}]
users: [{{name: me, user: {{}}}}]
contexts: [{{name: root, context: {{cluster: root, user: me}}}}, {{name: team, context: {{cluster: team, user: me}}}}]
"
    )
}
