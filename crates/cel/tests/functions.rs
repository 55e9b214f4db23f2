//! `docs/functions.md` is the libraries' own account of themselves. `UPDATE_GOLDEN=1` writes it anew.
//!
//! Absent: whether the examples are true (examples).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]
use std::{fmt::Write, path::Path};

use cel::{
    Env, EnvBuilder,
    library::{self, Entry, Library},
    program::Options,
};

const HEAD: &str = "\
# Functions

Generated from the libraries of `crates/cel`; each example is evaluated by a test and is true. `T`, `K`, `V` stand for any
type. The price is what a call costs in Kubernetes' cost model beyond its operands: an expression may cost 1,000,000, a
request 10,000,000. Sizes are code points of strings, bytes of bytes, elements of lists and maps.

Macros are rewritten before types are checked, and cost what they evaluate, once for each element that they come to. The
price beside a macro is that of its whole example.

Authors of EphemeralSchemas have what Kubernetes' admission policies have, and some more; the heading of each library says
so. Whoever uses the crate alone chooses libraries with `Env::builder().library(...)`.
";

/// Of each library, whether authors have it and what it is for.
const LIBRARIES: &[(&str, bool, &str)] = &[
    ("standard", true, "Operators, conversions, `size`, tests and patterns of strings, dates and times."),
    ("optional", true, "Values that may be absent: what `?.` and `[?` give, and what is done with it."),
    ("strings", true, "Work with strings, positions counted in code points."),
    ("lists", true, "cel-go's work with lists. `sort` and `sortBy` need elements that have an order."),
    ("math", true, "Numbers beyond the operators: bounds, rounding, bits."),
    ("encoders", true, "Base64."),
    ("sets", true, "Lists as sets."),
    ("comprehensions", true, "What the macros with two variables are made of; not to be called by name."),
    ("bindings", true, "A name for a value within an expression."),
    ("blocks", false, "Names for several values, as optimizers write them."),
    ("regex", true, "Work with patterns, in RE2's syntax and linear time."),
    ("kubernetes.jsonpatch", false, "For expressions that make JSON patches."),
    ("kubernetes.lists", true, "Kubernetes' work with lists."),
    ("kubernetes.regex", true, "Kubernetes' `find` and `findAll`, in RE2's syntax and linear time."),
    ("kubernetes.url", true, "URLs by their parts."),
    ("network", true, "IP addresses and their ranges."),
    ("kubernetes.quantity", true, "Kubernetes' quantities: `500m`, `1Gi`."),
    ("kubernetes.semver", true, "Semantic versions."),
    ("kubernetes.format", true, "Kubernetes' formats of names, labels, dates."),
    (
        "kubernetes.authorizer",
        true,
        "Whether the requesting user may do something: `authorizer` is the variable that it starts from. For authors \
         `check()` costs more, see `limits` in `src/engine`; its answers are gathered and asked together. \
         `authorizer.requestResource` is a ResourceCheck about what is being created.",
    ),
    ("kro.json", true, "JSON in texts, written canonically."),
    ("kro.hash", true, "Checksums of texts, as bytes: `base64.encode` makes texts of them."),
    ("kro.maps", true, "Maps of two."),
    ("kro.lists", true, "Lists with one element changed."),
];

fn reference() -> String {
    let libraries = library::all();
    let mut text = HEAD.to_owned();
    let links: Vec<String> =
        libraries.iter().map(|library| format!("[{0}](#{1})", library.name, library.name.replace('.', ""))).collect();
    write!(text, "\nLibraries: {}.\n", links.join(", ")).unwrap();
    for library in &libraries {
        let (_, authors, introduction) =
            LIBRARIES.iter().find(|(name, ..)| *name == library.name).unwrap_or_else(|| panic!("{}", library.name));
        let whose = if *authors { "Authors have it." } else { "Authors do not have it." };
        write!(text, "\n## {}\n\n{introduction} {whose}\n", library.name).unwrap();
        write_macros(&mut text, library);
        write_functions(&mut text, &library::reference(std::slice::from_ref(library)));
    }
    text
}

fn write_macros(text: &mut String, library: &Library) {
    if !library.constants.is_empty() {
        let names: Vec<String> = library.constants.iter().map(|(name, ..)| format!("`{name}`")).collect();
        write!(text, "\nTypes by name: {}.\n", names.join(", ")).unwrap();
    }
    if library.macros.is_empty() {
        return;
    }
    text.push_str("\n| macro | what it gives | price of the example | example |\n|---|---|---|---|\n");
    for known in &library.macros {
        let row = [code(known.form), cell(known.doc), price_of(known.example).to_string(), code(known.example)];
        writeln!(text, "| {} |", row.join(" | ")).unwrap();
    }
}

fn price_of(example: &str) -> u64 {
    let env = library::all().into_iter().fold(Env::builder(), EnvBuilder::library).build();
    let program = env.compile(example).and_then(|checked| env.program(&checked));
    let program = program.unwrap_or_else(|issues| panic!("{example}: {issues}"));
    program.evaluate(&[][..], Options::default()).cost
}

fn write_functions(text: &mut String, entries: &[Entry]) {
    if entries.is_empty() {
        return;
    }
    text.push_str("\n| signature | what it gives | price | example |\n|---|---|---|---|\n");
    for entry in entries {
        let example = if entry.example.is_empty() { String::new() } else { code(entry.example) };
        let row = [code(&entry.signature), cell(entry.doc), cell(entry.cost), example];
        writeln!(text, "| {} |", row.join(" | ")).unwrap();
    }
}

/// A pipe would end the cell, in code too.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn code(text: &str) -> String {
    let fence = if text.contains('`') { "``" } else { "`" };
    format!("{fence}{}{fence}", cell(text))
}

#[test]
fn the_reference_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/functions.md");
    let expected = reference();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &expected).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    let stale = expected.lines().zip(found.lines()).find(|(expected, found)| expected != found);
    assert!(found == expected, "docs/functions.md is stale: run with UPDATE_GOLDEN=1; first difference: {stale:?}");
}

/// No library is introduced that is not there.
#[test]
fn introductions_are_of_libraries() {
    let libraries = library::all();
    for (name, ..) in LIBRARIES {
        assert!(libraries.iter().any(|library| library.name == *name), "{name}");
    }
}
