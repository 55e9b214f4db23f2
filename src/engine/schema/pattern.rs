//! `pattern`: RE2's syntax, linear in time.
//!
//! Absent: the engine behind it (the cel crate).
use std::{fmt, sync::Arc};

/// A compiled `pattern`.
#[derive(Clone)]
pub struct Pattern {
    text: Arc<str>,
    compiled: cel::pattern::Pattern,
}

impl Pattern {
    /// Compiles.
    ///
    /// # Errors
    /// Why it is no pattern.
    pub fn new(text: &str) -> Result<Pattern, String> {
        Ok(Pattern { text: text.into(), compiled: cel::pattern::Pattern::new(text)? })
    }

    /// As the author wrote it.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it is found anywhere in `text`.
    pub fn is_match(&self, text: &str) -> bool {
        self.compiled.is_match(text)
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}
