//! cel-go's pattern functions: `regex.replace`, `regex.extract`, `regex.extractAll`.
//!
//! Absent: patterns themselves (regex), `find` and `findAll` (kubernetes::regex), `matches` (standard).
use regex_automata::util::captures::Captures;

use crate::{
    estimate::{
        Bounds, Guess, Operand,
        rule::{self, size},
    },
    eval::{Context, Halt},
    library::{
        Cost, Library,
        build::{at, function, global, invalid, no_overload_of},
        cost::{self, Price},
        regex,
    },
    types::Type,
    value::Value,
};

/// The library.
pub(crate) fn library() -> Library {
    use Type::{Int, String};
    let replaced = Price::new(
        Cost::Result(|args, result| matching(args).saturating_add(cost::size(result))),
        |args| {
            let text = size(args, 0);
            // Nothing is replaced, or every character.
            let size = text.union(text * size(args, 2));
            Guess::cost(match_of(args) + size).sized(size)
        },
        "a tenth of the text's size times a quarter of the pattern's, and the result's size",
    );
    let extracted = Price::new(
        Cost::Args(matching),
        |args| {
            let part = Bounds::new(0, size(args, 0).max);
            Guess::cost(match_of(args) + part).sized(part)
        },
        "a tenth of the text's size times a quarter of the pattern's",
    );
    let all = Price::new(
        Cost::Result(|args, result| matching(args).saturating_add(10 + cost::size(result).max(1))),
        |args| {
            let parts = Bounds::new(0, size(args, 0).max);
            Guess::cost(match_of(args) + Bounds::exactly(10) + parts).sized(parts)
        },
        "10, a tenth of the text's size times a quarter of the pattern's, and the elements of the result",
    );
    let texts = || vec![String, String];
    let functions = vec![
        function(
            "regex.replace",
            vec![
                at(
                    replaced,
                    global(
                        "regex_replace_string_string_string",
                        vec![String, String, String],
                        String,
                        replace,
                        "Each match replaced; `\\1` stands for the first group.",
                        "regex.replace('foo bar', '(o+)', '<\\\\1>') == 'f<oo> bar'",
                    ),
                ),
                at(
                    replaced,
                    global(
                        "regex_replace_string_string_string_int",
                        vec![String, String, String, Int],
                        String,
                        replace,
                        "At most as many matches replaced, all if negative.",
                        "regex.replace('aaa', 'a', 'b', 2) == 'bba'",
                    ),
                ),
            ],
        ),
        function(
            "regex.extract",
            vec![at(
                extracted,
                global(
                    "regex_extract_string_string",
                    texts(),
                    Type::optional(String),
                    extract,
                    "The first match, or its group if the pattern has one.",
                    "regex.extract('id: 7', '([0-9]+)').value() == '7'",
                ),
            )],
        ),
        function(
            "regex.extractAll",
            vec![at(
                all,
                global(
                    "regex_extractAll_string_string",
                    texts(),
                    Type::list(String),
                    extract_all,
                    "All matches, or their groups if the pattern has one.",
                    "regex.extractAll('a1, b2', '[a-z]([0-9])') == ['1', '2']",
                ),
            )],
        ),
    ];
    Library { name: "regex", functions, ..Library::default() }
}

fn matching(args: &[Value]) -> u64 {
    cost::matching(cost::size(args.first()), cost::size(args.get(1)))
}

fn match_of(args: &[Operand<'_>]) -> Bounds {
    rule::matching(size(args, 0), size(args, 1))
}

fn replace(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let (text, pattern, with, limit) = match args {
        [Value::String(text), Value::String(pattern), Value::String(with)] => (text, pattern, with, -1),
        [Value::String(text), Value::String(pattern), Value::String(with), Value::Int(limit)] => {
            (text, pattern, with, *limit)
        }
        _ => return Err(no_overload_of("regex.replace", args)),
    };
    if limit == 0 {
        return Ok(Value::String(text.clone()));
    }
    let regex = regex::compile(context, pattern)?;
    // As upstream, where nothing matches nothing is wrong with the replacement.
    let mut made = None;
    let (mut out, mut end) = (String::new(), 0);
    regex.capture_each(text, usize::try_from(limit).unwrap_or(usize::MAX), |whole, captures| {
        context.spend(regex.look_ahead(text.len() - whole.start()))?;
        out.push_str(text.get(end..whole.start()).unwrap_or(""));
        let before = out.len();
        if made.is_none() {
            made = Some(template(with, regex.captures_len().saturating_sub(1))?);
        }
        for piece in made.iter().flatten() {
            match piece {
                Piece::Char(c) => out.push(*c),
                Piece::Group(group) => out.push_str(group_of(text, captures, *group)),
            }
        }
        // What is put in may be longer than the text that the price goes by.
        context.spend((out.len() - before) as u64)?;
        end = whole.end();
        Ok(())
    })?;
    out.push_str(text.get(end..).unwrap_or(""));
    Ok(out.into())
}

enum Piece {
    Char(char),
    Group(usize),
}

/// `\0` to `\9` are groups, `\\` is a backslash.
fn template(text: &str, groups: usize) -> Result<Vec<Piece>, Halt> {
    let mut pieces = vec![];
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            pieces.push(Piece::Char(c));
            continue;
        }
        match chars.next() {
            Some('\\') => pieces.push(Piece::Char('\\')),
            Some(digit) if digit.is_ascii_digit() => {
                let group = digit.to_digit(10).and_then(|d| usize::try_from(d).ok()).unwrap_or(0);
                if group > groups {
                    return Err(invalid(format!(
                        "replacement string references group {group} but regex has only {groups} group(s)"
                    )));
                }
                pieces.push(Piece::Group(group));
            }
            None => return Err(invalid(format!("invalid replacement string: '{text}' \\ not allowed at end"))),
            Some(_) => {
                let message = format!("invalid replacement string: '{text}' \\ must be followed by a digit or \\");
                return Err(invalid(message));
            }
        }
    }
    Ok(pieces)
}

fn group_of<'a>(text: &'a str, captures: &Captures, group: usize) -> &'a str {
    captures.get_group(group).and_then(|span| text.get(span.range())).unwrap_or("")
}

/// The pattern, and the group that is extracted: the only one, or the whole match.
fn extracting(
    context: &mut Context<'_>,
    name: &str,
    args: &[Value],
) -> Result<(std::sync::Arc<regex::Pattern>, usize), Halt> {
    let [Value::String(_), Value::String(pattern)] = args else { return Err(no_overload_of(name, args)) };
    let regex = regex::compile(context, pattern)?;
    match regex.captures_len() {
        0 | 1 => Ok((regex, 0)),
        2 => Ok((regex, 1)),
        _ => Err(invalid(format!("regular expression has more than one capturing group: {pattern:?}"))),
    }
}

/// What is extracted of a match; an empty group is none.
fn part_of<'a>(text: &'a str, captures: &Captures, group: usize) -> Option<&'a str> {
    let part = text.get(captures.get_group(group)?.range())?;
    (group == 0 || !part.is_empty()).then_some(part)
}

fn extract(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let (regex, group) = extracting(context, "regex.extract", args)?;
    let [Value::String(text), _] = args else { return Err(no_overload_of("regex.extract", args)) };
    let mut found = None;
    regex.capture_each(text, 1, |_, captures| {
        found = part_of(text, captures, group);
        Ok(())
    })?;
    Ok(found.map_or(Value::NONE, |part| Value::some(part.into())))
}

fn extract_all(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let (regex, group) = extracting(context, "regex.extractAll", args)?;
    let [Value::String(text), _] = args else { return Err(no_overload_of("regex.extractAll", args)) };
    let mut parts = vec![];
    regex.capture_each(text, usize::MAX, |whole, captures| {
        context.spend(regex.look_ahead(text.len() - whole.start()))?;
        parts.extend(part_of(text, captures, group).map(Value::from));
        Ok(())
    })?;
    Ok(Value::List(parts.into()))
}
