//! Regular expressions with RE2's syntax and meaning, linear in time, bounded in memory. The one file that knows the engine.
//!
//! Absent: the functions that take patterns (strings, kubernetes::regex).
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use regex_automata::{meta::Regex, util::syntax};

use crate::{eval::Halt, library::build::invalid};

/// Bytes of a compiled pattern. RE2's default budget is 8 MiB; a pattern of Kubernetes' own takes some KiB.
const COMPILED_BYTES: usize = 2 << 20;

/// Groups in a pattern may nest as deep as in RE2 (Go's `maxHeight`).
const NESTING: u32 = 1000;

/// Compiled patterns kept for the process: enough for all call sites of a server's schemas; the rest is compiled again.
const CACHED: usize = 1024;

/// The compiled pattern; from the cache where it was met before.
///
/// # Errors
/// The pattern is invalid or too large; the message is Go's where the mistake is a common one.
pub(crate) fn compile(pattern: &str) -> Result<Arc<Regex>, Halt> {
    static CACHE: OnceLock<Mutex<HashMap<Box<str>, Arc<Regex>>>> = OnceLock::new();
    let cache = CACHE.get_or_init(Mutex::default);
    if let Some(found) = cache.lock().unwrap_or_else(PoisonError::into_inner).get(pattern) {
        return Ok(found.clone());
    }
    let compiled = Arc::new(build(pattern)?);
    let mut cache = cache.lock().unwrap_or_else(PoisonError::into_inner);
    if cache.len() >= CACHED {
        cache.clear();
    }
    cache.insert(pattern.into(), compiled.clone());
    Ok(compiled)
}

/// As [`compile`], for a pattern that is written in the expression: its mistake is a static one.
pub(crate) fn compile_constant(pattern: &str) -> Result<Arc<Regex>, String> {
    compile(pattern).map_err(|halt| match halt {
        Halt::Error(error) => error.message,
        Halt::Unknown(_) => String::new(),
    })
}

fn build(pattern: &str) -> Result<Regex, Halt> {
    let translated = translate::to_rust(pattern).map_err(|e| invalid(format!("error parsing regexp: {e}")))?;
    let failed = |_| invalid(format!("error parsing regexp: invalid or too large pattern: `{pattern}`"));
    Regex::builder()
        .syntax(syntax::Config::new().unicode(true).utf8(true).nest_limit(NESTING))
        .configure(Regex::config().nfa_size_limit(Some(COMPILED_BYTES)).hybrid_cache_capacity(COMPILED_BYTES))
        .build(&translated)
        .map_err(failed)
}

pub(crate) mod translate;
