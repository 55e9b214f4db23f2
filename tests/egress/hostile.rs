//! The table of hostile calls: nothing that is not allowed is ever dialled. Rows are in `hostile.txt`, policies in
//! `policies.yaml`; adding one touches no Rust.
use std::{collections::BTreeMap, net::IpAddr, sync::Arc};

use celandine::{
    api::EgressPolicySpec,
    storage::egress::pages::{FieldPath, Next, Pagination},
};

use crate::world::{Recorder, World, get, make, word};

/// A row: what is called, what the name resolves to at each look-up, what the backend answers, how it ends, what is dialled.
struct Row<'a> {
    line: usize,
    policy: &'a str,
    url: String,
    answers: Vec<Vec<IpAddr>>,
    reply: String,
    ends: Vec<&'a str>,
    dialled: Vec<&'a str>,
}

fn rows(text: &str) -> Vec<Row<'_>> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    lines.map(|(at, line)| row(at + 1, line).unwrap_or_else(|| panic!("line {}: six columns", at + 1))).collect()
}

fn row(line: usize, text: &str) -> Option<Row<'_>> {
    let columns: Vec<&str> = text.split(" | ").map(str::trim).collect();
    let [policy, url, answers, reply, ends, dialled] = columns.as_slice() else { return None };
    let set = |set: &str| set.split_whitespace().filter(|a| *a != "-").map(|a| a.parse().unwrap()).collect();
    let (status, fields) = reply.split_once(' ').unwrap_or((reply, ""));
    let status = if *reply == "-" { "200" } else { status };
    let fields = unescaped(fields);
    let fields = if fields.is_empty() { fields } else { format!("{fields}\r\n") };
    Some(Row {
        line,
        policy,
        url: unescaped(url),
        answers: answers.split(" / ").map(set).collect(),
        reply: format!("HTTP/1.1 {status} X\r\n{fields}Connection: close\r\nContent-Length: 2\r\n\r\n[]"),
        ends: ends.split(" / ").collect(),
        dialled: dialled.split_whitespace().filter(|address| *address != "-").collect(),
    })
}

/// `{0d}` is the character of that number.
fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (number, after) = after.split_once('}').unwrap();
        out.push_str(before);
        out.push(char::from_u32(u32::from_str_radix(number, 16).unwrap()).unwrap());
        rest = after;
    }
    out + rest
}

/// The name that a URL names, as resolvers are asked for it.
fn names(url: &str) -> Vec<String> {
    let host = celandine::storage::egress::target::Target::parse(url).map(|target| target.host().to_string());
    host.into_iter().collect()
}

#[tokio::test]
async fn nothing_that_is_not_allowed_is_dialled() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/egress");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let policies: BTreeMap<String, EgressPolicySpec> = serde_saphyr::from_str(&read("policies.yaml")).unwrap();
    let table = read("hostile.txt");
    let rows = rows(&table);
    assert!(rows.len() >= 150, "{} rows", rows.len());
    let mut wrong = vec![];
    for row in &rows {
        let recorder = Arc::new(Recorder::default());
        recorder.answer.lock().unwrap().clone_from(&row.reply);
        let world = World::new(Arc::clone(&recorder) as _);
        for name in names(&row.url) {
            world.names.set(&name, row.answers.clone());
        }
        let all = policies.iter().map(|(name, spec)| (name.as_str(), spec));
        let (egress, errors) = world.gateway.egress("root:platform", all);
        assert!(errors.is_empty(), "{errors:?}");
        let mut call = get(&row.url);
        call.policy = row.policy.into();
        call.pagination = Some(Pagination { next: Next::Link, items: FieldPath::default(), max_pages: 3 });
        let mut ends = vec![];
        for _ in &row.ends {
            ends.push(make(&egress, &call).await.map_or_else(|error| word(&error), |_| "Ok".to_owned()));
        }
        let dialled: Vec<String> = recorder.dialled.lock().unwrap().iter().map(ToString::to_string).collect();
        if ends != row.ends || dialled != row.dialled {
            wrong.push(format!("line {}: {}\n  {} | {}", row.line, row.url, ends.join(" / "), dialled.join(" ")));
        }
    }
    assert!(wrong.is_empty(), "rows that end otherwise, and what they dial:\n{}", wrong.join("\n"));
}
