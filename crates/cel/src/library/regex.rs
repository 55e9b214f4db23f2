//! Regular expressions with RE2's syntax and meaning, linear in time, bounded in memory. The one file that knows the engine.
//!
//! Absent: matching (matching), the functions that take patterns (strings, kubernetes::regex).
use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use regex_automata::meta::Regex;
use regex_syntax::{ParserBuilder, ast::ErrorKind, hir::Hir};

use crate::{
    eval::{Context, Halt},
    library::{Effort, build::invalid},
    limits::PATTERN_WEIGHT,
};

/// Bytes of the states that a matcher may learn in one direction; see `matching` for those of all.
const CACHE_BYTES: usize = 2 << 20;

/// Bytes of a compiled pattern: more than [`PATTERN_WEIGHT`] lets it become.
const COMPILED_BYTES: usize = 128 << 20;

/// Levels that a pattern may nest: groups, repetitions, alternatives. Compiling recurses, and at Go's 1,000 would overflow a
/// stack of 2 MiB; patterns of people stay below 20.
const NESTING: u32 = 100;

/// Bytes of compiled patterns kept for the process: enough for all call sites of a server's schemas, of which one takes some
/// KiB; the rest is compiled again.
const CACHED_BYTES: usize = 64 << 20;

/// Work that a unit of weight is to compile: 50 ns.
const WORK_PER_WEIGHT: u64 = 32;

/// Work that any pattern is to compile, 20 us, and its memory: some 10 KiB while the evaluation lasts.
const WORK_PER_PATTERN: u64 = 16 << 10;

/// Work that a byte of a pattern is to read: 0.4 us.
const WORK_PER_BYTE: u64 = 256;

/// A compiled pattern.
pub(crate) struct Pattern {
    regex: Regex,
    /// No other pattern of the process ever has it.
    number: u64,
    /// Bytes of its longest match.
    longest: usize,
}

impl Pattern {
    /// Work of finding one of many matches, beside the bytes of the match, where so many bytes are left of the text: to know that
    /// there is no longer one, `.*x|a` looks at all of them each time. 16 are read in the time in which one is copied.
    pub(crate) fn look_ahead(&self, left: usize) -> u64 {
        self.longest.min(left) as u64 / 16
    }
}

/// A pattern, and what it was to compile.
#[derive(Clone)]
struct Compiled {
    regex: Arc<Pattern>,
    weight: u64,
}

/// The patterns that one evaluation made: each is counted once.
#[derive(Default)]
#[expect(clippy::box_collection, reason = "most evaluations have none, and what they carry stays small")]
pub(crate) struct Patterns(Option<Box<HashMap<Arc<str>, Arc<Pattern>>>>);

/// The compiled pattern of a text that is computed. What it takes is counted before it is done, and whether or not it was met
/// before by somebody else, so that the same evaluation always has the same work.
///
/// # Errors
/// The pattern is invalid or too large; the message is Go's where the mistake is a common one.
pub(crate) fn compile(context: &mut Context<'_>, pattern: &Arc<str>) -> Result<Arc<Pattern>, Halt> {
    if let Some(found) = context.patterns.0.as_ref().and_then(|known| known.get(pattern)) {
        return Ok(found.clone());
    }
    context.spend(WORK_PER_PATTERN.saturating_add((pattern.len() as u64).saturating_mul(WORK_PER_BYTE)))?;
    let mut spend = |weight: u64| context.spend(weight.saturating_mul(WORK_PER_WEIGHT));
    let compiled = match cached(pattern) {
        Some(compiled) => spend(compiled.weight).map(|()| compiled)?,
        None => {
            let (hir, weight) = parse(pattern).map_err(invalid)?;
            spend(weight)?;
            build(pattern, &hir, weight).map_err(invalid)?
        }
    };
    context.patterns.0.get_or_insert_default().insert(pattern.clone(), compiled.regex.clone());
    Ok(compiled.regex)
}

/// As [`compile`], for a pattern that is written in the expression: its mistake is a static one, and an expression's patterns
/// share an effort.
pub(crate) fn compile_constant(pattern: &str, effort: &mut Effort) -> Result<Arc<Pattern>, String> {
    if let Some(compiled) = cached(pattern) {
        effort.spend(compiled.weight).map_err(|()| too_large(pattern))?;
        return Ok(compiled.regex);
    }
    let (hir, weight) = parse(pattern)?;
    effort.spend(weight).map_err(|()| too_large(pattern))?;
    build(pattern, &hir, weight).map(|compiled| compiled.regex)
}

/// What is wrong with a pattern, without compiling it.
pub(crate) fn check(pattern: &str) -> Result<(), String> {
    parse(pattern).map(drop)
}

type Cache = (usize, HashMap<Box<str>, Compiled>);

fn cache() -> std::sync::MutexGuard<'static, Cache> {
    static CACHE: OnceLock<Mutex<Cache>> = OnceLock::new();
    CACHE.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

fn cached(pattern: &str) -> Option<Compiled> {
    cache().1.get(pattern).cloned()
}

fn parse(pattern: &str) -> Result<(Hir, u64), String> {
    let refused = |why: &str| format!("error parsing regexp: {why}");
    let (translated, before) = translate::to_rust(pattern).map_err(|why| refused(&why))?;
    let mut parser = ParserBuilder::new().nest_limit(NESTING).build();
    let hir = parser.parse(&translated).map_err(|error| match error {
        regex_syntax::Error::Parse(error) if matches!(error.kind(), ErrorKind::NestLimitExceeded(_)) => {
            refused(&translate::too_deep(pattern))
        }
        _ => too_large(pattern),
    })?;
    let weight = before.saturating_add(weight::with_groups(&hir));
    if weight > PATTERN_WEIGHT { Err(too_large(pattern)) } else { Ok((hir, weight)) }
}

static NUMBER: AtomicU64 = AtomicU64::new(0);

fn build(pattern: &str, hir: &Hir, weight: u64) -> Result<Compiled, String> {
    let config = Regex::config().nfa_size_limit(Some(COMPILED_BYTES)).hybrid_cache_capacity(CACHE_BYTES);
    let regex = Regex::builder().configure(config).build_from_hir(hir).map_err(|_| too_large(pattern))?;
    let longest = hir.properties().maximum_len().unwrap_or(usize::MAX);
    let compiled = Compiled {
        regex: Arc::new(Pattern { regex, number: NUMBER.fetch_add(1, Ordering::Relaxed), longest }),
        weight,
    };
    let bytes = compiled.regex.regex.memory_usage() + pattern.len();
    let (total, known) = &mut *cache();
    if *total + bytes > CACHED_BYTES {
        known.clear();
        *total = 0;
    }
    if known.insert(pattern.into(), compiled.clone()).is_none() {
        *total += bytes;
    }
    Ok(compiled)
}

fn too_large(pattern: &str) -> String {
    format!("error parsing regexp: {}", translate::too_large(pattern))
}

mod matching;
mod translate;
mod weight;
