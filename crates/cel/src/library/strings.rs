//! String functions: cel-go's extension in its newest version, and the older one that Kubernetes has.
//!
//! They differ in `format` (strings/format), in `reverse`, which only the newer has, and in positions past the end, which
//! the specification refuses and Kubernetes finds nothing at.
//!
//! Absent: `contains`, `matches` and their kin (standard), patterns (kubernetes::regex).
mod format;
mod validate;

use std::sync::Arc;

use crate::{
    estimate::{
        Bounds, Guess, Operand, parts,
        rule::{integer, size},
    },
    eval::{Context, Halt},
    library::{
        Cost, Function, Implementation, Library,
        build::{at, function, global, invalid, method, no_overload_of, priced},
        conversions::text_of,
        cost::{self, Price},
        kubernetes::lists::TRAVERSAL,
        standard::work,
    },
    types::Type,
    value::Value,
};

/// cel-go's strings extension, version 4.
pub(crate) fn library() -> Library {
    let mut functions = shared();
    functions.extend(search::<true>());
    functions.push(function(
        "reverse",
        vec![method(
            "string_reverse",
            vec![Type::String],
            Type::String,
            reverse,
            "The characters from the end.",
            "'abc'.reverse() == 'cba'",
        )],
    ));
    functions.push(formatter(format::newer, "'%s is %.1f'.format(['pi', 3.14159]) == 'pi is 3.1'"));
    Library { name: "strings", functions, validators: vec![("format", validate::newer)], ..Library::default() }
}

/// The version that Kubernetes has.
pub(crate) fn kubernetes() -> Library {
    let mut functions = shared();
    functions.extend(search::<false>());
    functions.push(formatter(format::older, "'%s is %.1f'.format(['pi', 3.14159]) == 'pi is 3.1'"));
    Library { name: "strings", functions, validators: vec![("format", validate::older)], ..Library::default() }
}

fn formatter(code: Implementation, example: &'static str) -> Function {
    let params = vec![Type::String, Type::list(Type::Dyn)];
    let doc = "The text with each `%s %d %f %e %b %o %x %X` replaced by an argument; `%.2f` has a precision.";
    function(
        "format",
        vec![at(cost::RECEIVER_INNER, method("string_format", params, Type::String, code, doc, example))],
    )
}

fn shared() -> Vec<Function> {
    use Type::{Int, String};
    let strings = || Type::list(String);
    vec![
        function(
            "charAt",
            vec![method(
                "string_char_at_int",
                vec![String, Int],
                String,
                char_at,
                "The character at a position, empty at the end.",
                "'abc'.charAt(1) == 'b'",
            )],
        ),
        priced(
            "join",
            Price::new(
                Cost::Result(|_, result| cost::fifth(cost::size(result))),
                joined,
                "a fifth of the result's size",
            ),
            vec![
                method("list_join", vec![strings()], String, join, "The texts in one.", "['a', 'b'].join() == 'ab'"),
                method(
                    "list_join_string",
                    vec![strings(), String],
                    String,
                    join,
                    "The texts in one, the separator between them.",
                    "['a', 'b'].join('-') == 'a-b'",
                ),
            ],
        ),
        priced(
            "lowerAscii",
            cost::RECEIVER_KEPT,
            vec![method(
                "string_lower_ascii",
                vec![String],
                String,
                lower_ascii,
                "`A` to `Z` made small.",
                "'ABC'.lowerAscii() == 'abc'",
            )],
        ),
        function(
            "strings.quote",
            vec![at(
                cost::RECEIVER_INNER.estimated(|args| {
                    let text = size(args, 0);
                    // Every character may need a backslash; upstream's arithmetic wraps.
                    let max = text.max.wrapping_mul(2).wrapping_add(2);
                    Guess::cost(text.scaled(0.1)).sized(Bounds::new(text.min.wrapping_add(2), max))
                }),
                global(
                    "strings_quote",
                    vec![String],
                    String,
                    quote,
                    "The text as a CEL literal.",
                    "strings.quote('a\"b') == '\"a\\\\\"b\"'",
                ),
            )],
        ),
        priced(
            "replace",
            cost::RECEIVER_TWICE.estimated(replaced),
            vec![
                method(
                    "string_replace_string_string",
                    vec![String, String, String],
                    String,
                    replace,
                    "Each occurrence replaced.",
                    "'aba'.replace('a', 'x') == 'xbx'",
                ),
                method(
                    "string_replace_string_string_int",
                    vec![String, String, String, Int],
                    String,
                    replace,
                    "At most as many occurrences replaced, all if negative.",
                    "'aba'.replace('a', 'x', 1) == 'xba'",
                ),
            ],
        ),
        priced(
            "split",
            cost::RECEIVER_TWICE.estimated(|args| {
                let text = size(args, 0);
                // A negative limit is none.
                let parts = integer(args, 2).map_or(text.max, i64::cast_unsigned);
                Guess::cost(text.scaled(0.2)).sized(Bounds::new(0, parts))
            }),
            vec![
                method(
                    "string_split_string",
                    vec![String, String],
                    strings(),
                    split,
                    "The parts between the separator.",
                    "'a,b'.split(',') == ['a', 'b']",
                ),
                method(
                    "string_split_string_int",
                    vec![String, String, Int],
                    strings(),
                    split,
                    "At most as many parts, all if negative.",
                    "'a,b,c'.split(',', 2) == ['a', 'b,c']",
                ),
            ],
        ),
        priced(
            "substring",
            cost::RECEIVER_KEPT,
            vec![
                method(
                    "string_substring_int",
                    vec![String, Int],
                    String,
                    substring,
                    "From a position on.",
                    "'abc'.substring(1) == 'bc'",
                ),
                method(
                    "string_substring_int_int",
                    vec![String, Int, Int],
                    String,
                    substring,
                    "From a position up to before another.",
                    "'abc'.substring(1, 2) == 'b'",
                ),
            ],
        ),
        priced(
            "trim",
            cost::RECEIVER_KEPT,
            vec![method(
                "string_trim",
                vec![String],
                String,
                trim,
                "Without white space at both ends.",
                "' a '.trim() == 'a'",
            )],
        ),
        priced(
            "upperAscii",
            cost::RECEIVER_KEPT,
            vec![method(
                "string_upper_ascii",
                vec![String],
                String,
                upper_ascii,
                "`a` to `z` made large.",
                "'abc'.upperAscii() == 'ABC'",
            )],
        ),
    ]
}

/// The texts and the separators between them.
fn joined(args: &[Operand<'_>]) -> Guess {
    let list = size(args, 0);
    let texts = args.first().and_then(|arg| arg.element).map_or(Bounds::exactly(0), |(_, text)| list * text);
    let separators = if args.len() > 1 { size(args, 1) * list.less(1) } else { Bounds::exactly(0) };
    let size = texts + separators;
    Guess::cost(size.scaled(0.1)).sized(size)
}

/// The result is largest, and smallest, either where nothing or where everything is replaced.
fn replaced(args: &[Operand<'_>]) -> Guess {
    let (text, part, with) = (size(args, 0), size(args, 1), size(args, 2));
    // How many replacements, and how much of the text is kept.
    let ends = |text: u64, part: u64, grows: bool| match (part, grows) {
        // Between all characters.
        (0, _) => (text.saturating_add(1), text),
        (_, false) => (0, text),
        (_, true) => (parts(text, part), 0),
    };
    let (most, most_kept) = ends(text.max, part.min, with.max > part.min);
    let (least, least_kept) = ends(text.min, part.max, part.max > with.min);
    let size = Bounds::new(least, most) * with + Bounds::new(least_kept, most_kept);
    Guess::cost(text.scaled(0.2)).sized(size)
}

fn search<const STRICT: bool>() -> Vec<Function> {
    use Type::{Int, String};
    let first: Implementation = |_, args| index_of::<STRICT>(args);
    let last: Implementation = |_, args| last_index_of::<STRICT>(args);
    vec![
        priced(
            "indexOf",
            TRAVERSAL,
            vec![
                method(
                    "string_index_of_string",
                    vec![String, String],
                    Int,
                    first,
                    "Where the part first is, or -1.",
                    "'abcb'.indexOf('b') == 1",
                ),
                method(
                    "string_index_of_string_int",
                    vec![String, String, Int],
                    Int,
                    first,
                    "Where the part first is from a position on, or -1.",
                    "'abcb'.indexOf('b', 2) == 3",
                ),
            ],
        ),
        priced(
            "lastIndexOf",
            TRAVERSAL,
            vec![
                method(
                    "string_last_index_of_string",
                    vec![String, String],
                    Int,
                    last,
                    "Where the part last is, or -1.",
                    "'abcb'.lastIndexOf('b') == 3",
                ),
                method(
                    "string_last_index_of_string_int",
                    vec![String, String, Int],
                    Int,
                    last,
                    "Where the part last is up to a position, or -1.",
                    "'abcb'.lastIndexOf('b', 2) == 1",
                ),
            ],
        ),
    ]
}

fn out_of_range(position: i64) -> Halt {
    invalid(format!("index out of range: {position}"))
}

/// The byte offset of a character's position; the end counts.
fn offset_of(text: &str, position: i64) -> Option<usize> {
    let position = usize::try_from(position).ok()?;
    if text.is_ascii() {
        return (position <= text.len()).then_some(position);
    }
    text.char_indices().map(|(at, _)| at).chain([text.len()]).nth(position)
}

fn position_of(text: &str, offset: usize) -> i64 {
    let before = text.get(..offset).unwrap_or(text);
    i64::try_from(before.chars().count()).unwrap_or(i64::MAX)
}

fn length_of(text: &str) -> i64 {
    position_of(text, text.len())
}

fn char_at(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let [Value::String(text), Value::Int(position)] = args else { return Err(no_overload_of("charAt", args)) };
    // To find a character, those before it are looked at one by one.
    context.spend(if text.is_ascii() { work(text) } else { text.len() as u64 / 2 })?;
    let rest = offset_of(text, *position).and_then(|at| text.get(at..)).ok_or_else(|| out_of_range(*position))?;
    Ok(rest.chars().next().map_or_else(String::new, String::from).into())
}

fn index_of<const STRICT: bool>(args: &[Value]) -> Result<Value, Halt> {
    let (text, part, from) = match args {
        [Value::String(text), Value::String(part)] => (text, part, 0),
        [Value::String(text), Value::String(part), Value::Int(from)] => (text, part, *from),
        _ => return Err(no_overload_of("indexOf", args)),
    };
    let Some(start) = offset_of(text, from) else {
        return if STRICT || from < 0 {
            Err(out_of_range(from))
        } else {
            Ok(Value::Int(if part.is_empty() { from } else { -1 }))
        };
    };
    let found = text.get(start..).and_then(|rest| rest.find(&**part));
    Ok(Value::Int(found.map_or(-1, |at| position_of(text, start + at))))
}

fn last_index_of<const STRICT: bool>(args: &[Value]) -> Result<Value, Halt> {
    let (text, part, from) = match args {
        [Value::String(text), Value::String(part)] => (text, part, None),
        [Value::String(text), Value::String(part), Value::Int(from)] => (text, part, Some(*from)),
        _ => return Err(no_overload_of("lastIndexOf", args)),
    };
    let Some(from) = from else {
        return Ok(Value::Int(text.rfind(&**part).map_or(-1, |at| position_of(text, at))));
    };
    if from < 0 || STRICT && from > length_of(text) {
        return Err(out_of_range(from));
    }
    if part.is_empty() {
        return Ok(Value::Int(from));
    }
    if from >= length_of(text) {
        return Ok(Value::Int(-1));
    }
    let end = offset_of(text, from).unwrap_or(text.len()).saturating_add(part.len()).min(text.len());
    // Where the part would end inside a character, it does not match there.
    let end = (0..=end).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    let found = text.get(..end).and_then(|head| head.rfind(&**part)).map(|at| position_of(text, at));
    Ok(Value::Int(found.unwrap_or(-1)))
}

fn join(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let (list, separator) = match args {
        [Value::List(list)] => (list, ""),
        [Value::List(list), Value::String(separator)] => (list, &**separator),
        _ => return Err(no_overload_of("join", args)),
    };
    let mut parts: Vec<&str> = Vec::with_capacity(list.len());
    let mut bytes = separator.len().saturating_mul(list.len().saturating_sub(1));
    for value in list.as_slice() {
        match value {
            Value::String(part) => {
                bytes = bytes.saturating_add(part.len());
                parts.push(part);
            }
            other => {
                let text = text_of(other).unwrap_or_else(|| format!("{other:?}"));
                return Err(invalid(format!("join: invalid input: {text}")));
            }
        }
    }
    // A character has at most 4 bytes, so that the price is at least this.
    context.afford(cost::fifth(bytes as u64 / 4))?;
    Ok(parts.join(separator).into())
}

fn lower_ascii(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [Value::String(text)] => Ok(text.to_ascii_lowercase().into()),
        _ => Err(no_overload_of("lowerAscii", args)),
    }
}

fn upper_ascii(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [Value::String(text)] => Ok(text.to_ascii_uppercase().into()),
        _ => Err(no_overload_of("upperAscii", args)),
    }
}

fn quote(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let [Value::String(text)] = args else { return Err(no_overload_of("strings.quote", args)) };
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        let escaped = match c {
            '\x07' => 'a',
            '\x08' => 'b',
            '\x0c' => 'f',
            '\n' => 'n',
            '\r' => 'r',
            '\t' => 't',
            '\x0b' => 'v',
            '\\' => '\\',
            '"' => '"',
            c => {
                quoted.push(c);
                continue;
            }
        };
        quoted.push('\\');
        quoted.push(escaped);
    }
    quoted.push('"');
    Ok(quoted.into())
}

fn replace(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let (text, what, with, limit) = match args {
        [Value::String(text), Value::String(what), Value::String(with)] => (text, what, with, -1),
        [Value::String(text), Value::String(what), Value::String(with), Value::Int(limit)] => {
            (text, what, with, *limit)
        }
        _ => return Err(no_overload_of("replace", args)),
    };
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let count = text.matches(&**what).take(limit).count();
    // The model charges by the receiver alone, however long the replacement is.
    context.spend((text.len() as u64).saturating_add((count as u64).saturating_mul(with.len() as u64)))?;
    Ok(text.replacen(&**what, with, limit).into())
}

fn reverse(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [Value::String(text)] => Ok(text.chars().rev().collect::<String>().into()),
        _ => Err(no_overload_of("reverse", args)),
    }
}

fn split(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let (text, separator, limit) = match args {
        [Value::String(text), Value::String(separator)] => (text, separator, -1),
        [Value::String(text), Value::String(separator), Value::Int(limit)] => (text, separator, *limit),
        _ => return Err(no_overload_of("split", args)),
    };
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let part = |part: &str| Value::String(Arc::from(part));
    let parts: Vec<Value> = if separator.is_empty() {
        let mut parts: Vec<Value> = Vec::new();
        let mut rest: &str = text;
        while let (Some(c), true) = (rest.chars().next(), parts.len() < limit) {
            let last = parts.len() + 1 == limit;
            let (head, tail) = rest.split_at(if last { rest.len() } else { c.len_utf8() });
            parts.push(part(head));
            rest = tail;
        }
        parts
    } else {
        text.splitn(limit, &**separator).map(part).collect()
    };
    Ok(Value::List(parts.into()))
}

fn substring(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let (text, start, end) = match args {
        [Value::String(text), Value::Int(start)] => (text, *start, None),
        [Value::String(text), Value::Int(start), Value::Int(end)] => (text, *start, Some(*end)),
        _ => return Err(no_overload_of("substring", args)),
    };
    if let Some(end) = end.filter(|end| *end < start) {
        return Err(invalid(format!("invalid substring range. start: {start}, end: {end}")));
    }
    let from = offset_of(text, start).ok_or_else(|| out_of_range(start))?;
    let to = end.map_or(Ok(text.len()), |end| offset_of(text, end).ok_or_else(|| out_of_range(end)))?;
    Ok(text.get(from..to).unwrap_or("").into())
}

fn trim(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [Value::String(text)] => Ok(text.trim().into()),
        _ => Err(no_overload_of("trim", args)),
    }
}
