//! Macros: parse-time rewrites of calls (`has`, `all`, `map`, ...), registered by libraries.
//!
//! Absent: functions that exist at run time.

/// A macro. Its expander is the parser author's to design.
#[derive(Clone)]
pub struct Macro;
