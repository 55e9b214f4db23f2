//! Patterns outside of expressions (`pattern` of a schema), with the same syntax, meaning and bounds as those within.
//!
//! Absent: the engine (library::regex).
use std::{fmt, sync::Arc};

use crate::library::{Effort, regex};

/// A compiled pattern of RE2's syntax; matching is linear in time.
#[derive(Clone)]
pub struct Pattern(Arc<regex::Pattern>);

impl Pattern {
    /// Compiles, or takes what was compiled before.
    ///
    /// # Errors
    /// Why it is no pattern, in Go's words.
    pub fn new(pattern: &str) -> Result<Pattern, String> {
        regex::compile_constant(pattern, &mut Effort::default()).map(Pattern)
    }

    /// Whether it is found anywhere in `text`.
    pub fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pattern")
    }
}
