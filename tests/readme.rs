//! What README.md claims: its commands run, its file trees and rooms are there, its table names every dependency, and the error
//! that it shows is the error that is printed.
//!
//! Absent: commands that build, serve or need tools which are not here.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::result_large_err,
    unreachable_pub,
    reason = "tests fail by panicking"
)]
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn readme() -> String {
    fs::read_to_string(root().join("README.md")).unwrap()
}

/// The fenced blocks of a language, in order.
fn blocks(readme: &str, language: &str) -> Vec<String> {
    let parts: Vec<&str> = readme.split("```").collect();
    let fenced = parts.iter().skip(1).step_by(2);
    fenced.filter_map(|block| block.strip_prefix(&format!("{language}\n"))).map(str::to_owned).collect()
}

/// The arguments of every `cargo run -- ...`.
fn commands(readme: &str) -> Vec<Vec<String>> {
    let lines = blocks(readme, "console").join("\n");
    let runs = lines.lines().filter_map(|line| line.strip_prefix("$ cargo run -- "));
    runs.map(|args| args.split_whitespace().map(str::to_owned).collect()).collect()
}

fn celandine(args: &[String], dir: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_celandine")).args(args).current_dir(dir).output().unwrap()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let to = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &to);
        } else {
            fs::copy(&path, &to).unwrap();
        }
    }
}

#[test]
fn its_commands_run() {
    let mut seen = BTreeSet::new();
    for args in commands(&readme()) {
        seen.insert(args[0].clone());
        // A server goes on until it is stopped: that its flags are known is all that is asked here.
        let args = if args[0] == "serve" { [args, vec!["--help".to_owned()]].concat() } else { args };
        let output = celandine(&args, &root());
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let expected = ["check", "create", "serve"].map(str::to_owned);
    assert!(expected.iter().all(|command| seen.contains(command)), "{seen:?}");
}

#[test]
fn the_error_that_it_shows_is_the_error() {
    let readme = readme();
    let shown = blocks(&readme, "text").into_iter().find(|block| block.starts_with("error:")).expect("an error");
    let dir = tempfile::tempdir().unwrap();
    copy(&root().join("examples"), &dir.path().join("examples"));
    let schema = dir.path().join("examples/bucketinfo.yaml");
    let text = fs::read_to_string(&schema).unwrap();
    let (right, wrong) = ("bucket.status.phase", "bucket.status.phsae");
    assert!(text.contains(right) && readme.contains(&format!("`{wrong}`")) && readme.contains(&format!("`{right}`")));
    fs::write(&schema, text.replace(right, wrong)).unwrap();
    let args = commands(&readme).into_iter().find(|args| args[0] == "check").unwrap();
    let output = celandine(&args, dir.path());
    let printed = [output.stderr, output.stdout].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    assert_eq!(printed, shown);
    assert!(!output.status.success());
}

#[test]
fn its_table_names_every_dependency_and_nothing_else() {
    let readme = readme();
    let table = readme.split("## Dependencies").nth(1).unwrap();
    let rows =
        table.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| crate ") && !line.contains("---"));
    let named: BTreeSet<String> = rows
        .filter_map(|row| row.split('|').nth(1))
        .flat_map(|cell| cell.split(','))
        .map(|n| n.trim().to_owned())
        .collect();

    let mut wanted = BTreeSet::new();
    for manifest in ["Cargo.toml", "crates/cel/Cargo.toml"] {
        let text = fs::read_to_string(root().join(manifest)).unwrap();
        let mut is_dependencies = false;
        for line in text.lines() {
            if line.starts_with('[') {
                is_dependencies =
                    line == "[dependencies]" || (line == "[dev-dependencies]" && manifest == "Cargo.toml");
            } else if let Some((name, rest)) = line.split_once('=')
                && is_dependencies
                && !rest.contains("path =")
            {
                wanted.insert(name.trim().to_owned());
            }
        }
    }
    // Of the tests' own it names those that do not go without saying.
    for plain in ["regex", "tempfile"] {
        wanted.remove(plain);
    }
    assert!(wanted.len() > 30, "{wanted:?}");
    assert_eq!(named, wanted);
}

#[test]
fn the_tree_that_it_shows_is_there() {
    let readme = readme();
    let tree = blocks(&readme, "text").into_iter().find(|block| block.starts_with("tests/golden")).expect("a tree");
    let mut above: Vec<(usize, PathBuf)> = vec![(0, root())];
    for line in tree.lines() {
        let depth = line.len() - line.trim_start().len();
        while above.len() > 1 && above.last().unwrap().0 >= depth {
            above.pop();
        }
        if depth == 0 {
            above.truncate(1);
        }
        let path = above.last().unwrap().1.join(line.split_whitespace().next().unwrap());
        assert!(path.exists(), "{}", path.display());
        above.push((depth, path));
    }
}

#[test]
fn its_rooms_and_fuzz_targets_are_there() {
    let readme = readme();
    let rooms = readme.split("| room | owns |").nth(1).unwrap().split("\n\n").next().unwrap().to_owned();
    let rooms: Vec<&str> = rooms.lines().filter_map(|row| row.strip_prefix("| `")?.split('`').next()).collect();
    assert!(rooms.len() >= 6, "{rooms:?}");
    for room in rooms {
        assert!(root().join(room).is_dir(), "{room}");
    }
    for entry in fs::read_dir(root().join("fuzz/fuzz_targets")).unwrap() {
        let name = entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned();
        assert!(readme.contains(&format!("`{name}`")) || readme.contains(&format!("run {name}`")), "{name}");
    }
}
