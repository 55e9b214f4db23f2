//! The function reference: every overload with its type, its price in words and an example that evaluates to true.
//!
//! Absent: how it is rendered.
use std::sync::Arc;

use crate::library::{self, Library, Overload};

/// One signature of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The library's name.
    pub library: &'static str,
    /// The function's name.
    pub function: Arc<str>,
    /// cel-go's overload id.
    pub overload: &'static str,
    /// As one writes it: `string.split(string, int) -> list(string)`, `size(list(T)) -> int`, `int + int -> int`.
    pub signature: String,
    /// What a call costs beyond its arguments, in words.
    pub cost: &'static str,
    /// What it does, in one line.
    pub doc: &'static str,
    /// An expression that shows it and is true; empty where a call is always an error. `authorizer` stands for itself.
    pub example: &'static str,
}

/// Every function of the libraries given, in their order.
pub fn reference(libraries: &[Library]) -> Vec<Entry> {
    let mut entries = vec![];
    for library in libraries {
        for function in &library.functions {
            for overload in &function.overloads {
                entries.push(Entry {
                    library: library.name,
                    function: function.name.clone(),
                    overload: overload.id,
                    signature: format!("{} -> {}", call(&function.name, overload), overload.result),
                    cost: overload.price,
                    doc: overload.doc,
                    example: overload.example,
                });
            }
        }
    }
    entries
}

/// A call of the types, as one writes it: `string.split(string)`, `int + int`, `list(T)[int]`.
fn call(function: &str, overload: &Overload) -> String {
    let params: Vec<String> = overload.params.iter().map(ToString::to_string).collect();
    match (function, params.as_slice()) {
        ("_[_]", [of, index]) => format!("{of}[{index}]"),
        ("_[?_]", [of, index]) => format!("{of}[?{index}]"),
        ("_?._", [of, _]) => format!("{of}.?field"),
        ("_?_:_", [condition, one, other]) => format!("{condition} ? {one} : {other}"),
        ("@in", [value, container]) => format!("{value} in {container}"),
        (unary, [of]) if unary.ends_with('_') => format!("{}{of}", unary.trim_end_matches('_')),
        (binary, [one, other]) if binary.starts_with('_') => format!("{one} {} {other}", binary.trim_matches('_')),
        (name, [receiver, rest @ ..]) if overload.member => format!("{receiver}.{name}({})", rest.join(", ")),
        (name, params) => format!("{name}({})", params.join(", ")),
    }
}

/// All libraries there are, each once, in their newest version.
pub fn all() -> Vec<Library> {
    let mut libraries = vec![
        library::standard(),
        library::optionals(),
        library::strings(),
        library::lists(),
        library::math(),
        library::encoders(),
        library::sets(),
        library::comprehensions(),
        library::bindings(),
        library::blocks(),
        library::regex(),
        library::jsonpatch(),
    ];
    let known: Vec<&str> = libraries.iter().map(|library| library.name).collect();
    libraries.extend(library::kubernetes().into_iter().filter(|library| !known.contains(&library.name)));
    libraries.extend(library::kro());
    libraries
}
