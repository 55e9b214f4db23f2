//! Matching: what each thread remembers of the patterns that it matched, in bounded memory.
//!
//! The engine's matchers learn their states as they go. Left to themselves they would keep, for each pattern that is held, what
//! each thread learned of it, up to some MiB. Here a thread forgets all of it when it grows beyond [`MATCHER_BYTES`]: only having
//! learned as much again does it do so again, thus what forgetting takes stays in proportion.
//!
//! Absent: compiling, and its bounds.
use std::{cell::RefCell, collections::HashMap};

use regex_automata::{
    Input, Match,
    meta::{Cache, Regex},
    util::{captures::Captures, iter::Searcher},
};

use super::Pattern;
use crate::limits::MATCHER_BYTES;

/// Bytes of an entry, beside what the matcher says.
const ENTRY: usize = size_of::<Cache>() + 64;

/// What a thread remembers, by the patterns' numbers.
#[derive(Default)]
struct Remembered {
    bytes: usize,
    known: HashMap<u64, (Box<Cache>, usize), foldhash::fast::RandomState>,
}

thread_local! {
    static REMEMBERED: RefCell<Remembered> = RefCell::default();
}

impl Remembered {
    fn with<T>(&mut self, pattern: &Pattern, run: impl FnOnce(&Regex, &mut Cache) -> T) -> T {
        let regex = &pattern.regex;
        let (cache, counted) = self.known.entry(pattern.number).or_insert_with(|| (Box::new(regex.create_cache()), 0));
        let result = run(regex, cache);
        let bytes = ENTRY + cache.memory_usage();
        self.bytes = (self.bytes + bytes).saturating_sub(*counted);
        *counted = bytes;
        if self.bytes > MATCHER_BYTES {
            // The last one stays, whatever its size: a loop is likely to go on with it.
            self.known.retain(|number, _| *number == pattern.number);
            self.known.shrink_to_fit();
            self.bytes = bytes;
        }
        result
    }
}

impl Pattern {
    fn with<T>(&self, run: impl FnOnce(&Regex, &mut Cache) -> T) -> T {
        REMEMBERED.with(|remembered| match remembered.try_borrow_mut() {
            Ok(mut remembered) => remembered.with(self, run),
            Err(_) => run(&self.regex, &mut self.regex.create_cache()),
        })
    }

    /// Whether it is found anywhere in `text`.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        let input = Input::new(text).earliest(true);
        self.with(|regex, cache| regex.search_half_with(cache, &input).is_some())
    }

    /// Its first match.
    pub(crate) fn find<'t>(&self, text: &'t str) -> Option<&'t str> {
        let found = self.with(|regex, cache| regex.search_with(cache, &Input::new(text)))?;
        text.get(found.range())
    }

    /// Gives the first matches to `each`, which may stop it.
    pub(crate) fn find_each<E>(
        &self,
        text: &str,
        limit: usize,
        mut each: impl FnMut(Match) -> Result<(), E>,
    ) -> Result<(), E> {
        self.with(|regex, cache| {
            let mut searcher = Searcher::new(Input::new(text));
            for _ in 0..limit {
                let Some(found) = searcher.advance(|input| Ok(regex.search_with(cache, input))) else { break };
                each(found)?;
            }
            Ok(())
        })
    }

    /// As [`Pattern::find_each`], with the groups.
    pub(crate) fn capture_each<E>(
        &self,
        text: &str,
        limit: usize,
        mut each: impl FnMut(Match, &Captures) -> Result<(), E>,
    ) -> Result<(), E> {
        self.with(|regex, cache| {
            let (mut searcher, mut captures) = (Searcher::new(Input::new(text)), regex.create_captures());
            for _ in 0..limit {
                let found = searcher.advance(|input| {
                    regex.search_captures_with(cache, input, &mut captures);
                    Ok(captures.get_match())
                });
                let Some(found) = found else { break };
                each(found, &captures)?;
            }
            Ok(())
        })
    }

    /// Groups, the whole match among them.
    pub(crate) fn captures_len(&self) -> usize {
        self.regex.captures_len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::{Effort, regex::compile_constant};

    fn remembered() -> (usize, usize) {
        REMEMBERED.with_borrow(|r| {
            let sum = r.known.values().map(|(cache, _)| ENTRY + cache.memory_usage()).sum();
            assert_eq!(r.bytes, sum);
            (r.known.len(), sum)
        })
    }

    #[test]
    fn what_a_thread_remembers_is_bounded() {
        let mut state = 1_u32;
        let mut letter = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if state >> 31 == 0 { 'a' } else { 'b' }
        };
        let text: String = (0..3_000).map(|_| letter()).collect();
        let mut most = 0;
        for i in 0..400 {
            let pattern = format!("a[a-z]{{10}}(?:{i}|x)");
            let pattern = compile_constant(&pattern, &mut Effort::default()).unwrap();
            assert!(!pattern.is_match(&text));
            let (_, bytes) = remembered();
            assert!(bytes <= MATCHER_BYTES);
            most = most.max(bytes);
        }
        assert!(most > MATCHER_BYTES / 2, "only {most} bytes were ever needed");
    }

    /// Long matches of patterns with many groups are the worst: the slots of each group, for each state.
    #[test]
    fn the_heaviest_patterns_remember_no_more_than_is_told() {
        let (text, groups) = ("xyzäß".repeat(200), "(a*)?".repeat(300) + "[^q]*");
        for pattern in [r"(\pL{1,20})+x$", r"(?:\pL?){120}$", r"((((\pL)\pL)\pL)*x){2}$", &groups] {
            let pattern = compile_constant(pattern, &mut Effort::default()).expect(pattern);
            pattern.is_match(&text);
            pattern.find(&text);
            let _ = pattern.capture_each(&text, 2, |_, _| Ok::<_, ()>(()));
            let bytes = REMEMBERED.with_borrow(|remembered| remembered.known[&pattern.number].1);
            assert!(bytes <= MATCHER_BYTES, "{bytes}");
            assert!(remembered().1 <= 2 * MATCHER_BYTES);
        }
        let groups = "(a*)?".repeat(1_000);
        assert!(compile_constant(&groups, &mut Effort::default()).is_err_and(|e| e.contains("expression too large")));
    }

    #[test]
    fn patterns_do_not_share_what_is_remembered() {
        let compile = |pattern: &str| compile_constant(pattern, &mut Effort::default()).unwrap();
        let (a, b) = (compile("a(b+)c"), compile("[0-9]+"));
        for _ in 0..3 {
            assert!(a.is_match("xabbc") && !b.is_match("xabbc") && b.is_match("x1"));
            assert_eq!((a.find("xabbc"), b.find("a12")), (Some("abbc"), Some("12")));
        }
        drop(a);
        assert!(compile("x*y").is_match("y"));
    }
}
