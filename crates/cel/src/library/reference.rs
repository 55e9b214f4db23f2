//! The function reference: every overload with its type, its price in words and an example that evaluates to true.
//!
//! Absent: how it is rendered.
use std::sync::Arc;

use crate::library::{self, Library};

/// One signature of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The library's name.
    pub library: &'static str,
    /// The function's name.
    pub function: Arc<str>,
    /// cel-go's overload id.
    pub overload: &'static str,
    /// `string.split(string, int) -> list(string)`, `size(list(T)) -> int`.
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
                let mut params = overload.params.iter().map(ToString::to_string);
                let receiver = if overload.member { params.next() } else { None };
                let params = params.collect::<Vec<_>>().join(", ");
                let receiver = receiver.map(|receiver| format!("{receiver}.")).unwrap_or_default();
                entries.push(Entry {
                    library: library.name,
                    function: function.name.clone(),
                    overload: overload.id,
                    signature: format!("{receiver}{}({params}) -> {}", function.name, overload.result),
                    cost: overload.price,
                    doc: overload.doc,
                    example: overload.example,
                });
            }
        }
    }
    entries
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
        library::regex(),
        library::jsonpatch(),
    ];
    let known: Vec<&str> = libraries.iter().map(|library| library.name).collect();
    libraries.extend(library::kubernetes().into_iter().filter(|library| !known.contains(&library.name)));
    libraries.extend(library::kro());
    libraries
}
