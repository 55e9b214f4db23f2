//! Semantic versions: `semver('1.2.3')`, `semver('v1.2', true)`.
//!
//! Absent: ranges of versions.
use std::{any::Any, cmp::Ordering, fmt, sync::Arc};

use crate::{
    eval::{Context, Halt},
    library::{
        Function, Implementation, Library,
        build::{function, global, invalid, method, no_overload_of, priced},
        cost,
    },
    types::Type,
    value::{Opaque, Value},
};

const NAME: &str = "kubernetes.Semver";

/// The library.
pub(crate) fn library() -> Library {
    let functions = construction().into_iter().chain(use_of()).collect();
    Library { name: "kubernetes.semver", functions, ..Library::default() }
}

#[derive(Debug)]
struct Version {
    major: u64,
    minor: u64,
    patch: u64,
    prerelease: Vec<Part>,
    build: Vec<String>,
}

/// A part of a pre-release. The order is that of versions: numbers before texts.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Number(u64),
    Text(String),
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        for (i, part) in self.prerelease.iter().enumerate() {
            f.write_str(if i == 0 { "-" } else { "." })?;
            match part {
                Part::Number(n) => write!(f, "{n}")?,
                Part::Text(text) => f.write_str(text)?,
            }
        }
        for (i, part) in self.build.iter().enumerate() {
            f.write_str(if i == 0 { "+" } else { "." })?;
            f.write_str(part)?;
        }
        Ok(())
    }
}

impl Version {
    /// Build metadata does not count.
    fn order(&self, other: &Version) -> Ordering {
        let numbers = |v: &Version| (v.major, v.minor, v.patch);
        let prerelease = match (self.prerelease.is_empty(), other.prerelease.is_empty()) {
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            _ => self.prerelease.cmp(&other.prerelease),
        };
        numbers(self).cmp(&numbers(other)).then(prerelease)
    }
}

impl Opaque for Version {
    fn type_of(&self) -> Type {
        Type::opaque(NAME)
    }
    fn equals(&self, other: &dyn Opaque) -> bool {
        other.as_any().downcast_ref::<Version>().is_some_and(|other| self.order(other).is_eq())
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn to_json(&self) -> Option<Value> {
        Some(self.to_string().into())
    }
}

fn number(text: &str, what: &str) -> Result<u64, String> {
    if !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(format!("Invalid character(s) found in {} number {text:?}", what.to_lowercase()));
    }
    if text.len() > 1 && text.starts_with('0') {
        return Err(format!("{what} number must not contain leading zeroes {text:?}"));
    }
    unsigned(text)
}

/// Go's `ParseUint` of digits.
fn unsigned(text: &str) -> Result<u64, String> {
    let why = if text.is_empty() { "invalid syntax" } else { "value out of range" };
    text.parse().map_err(|_| format!("strconv.ParseUint: parsing {text:?}: {why}"))
}

fn is_alphanumeric(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

fn parse(text: &str) -> Result<Version, String> {
    if text.is_empty() {
        return Err("Version string empty".to_string());
    }
    let mut parts = text.splitn(3, '.');
    let (Some(major), Some(minor), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
        return Err("No Major.Minor.Patch elements found".to_string());
    };
    let (major, minor) = (number(major, "Major")?, number(minor, "Minor")?);
    let (rest, build) = rest.split_once('+').map_or((rest, None), |(rest, build)| (rest, Some(build)));
    let (patch, prerelease) = rest.split_once('-').map_or((rest, None), |(patch, pre)| (patch, Some(pre)));
    let patch = number(patch, "Patch")?;
    let prerelease = prerelease.map_or(Ok(vec![]), |text| text.split('.').map(part).collect::<Result<_, _>>())?;
    let meta = |text: &str| match text {
        "" => Err("Build meta data is empty".to_string()),
        text if !is_alphanumeric(text) => Err(format!("Invalid character(s) found in build meta data {text:?}")),
        text => Ok(text.to_string()),
    };
    let build = build.map_or(Ok(vec![]), |text| text.split('.').map(meta).collect::<Result<_, _>>())?;
    Ok(Version { major, minor, patch, prerelease, build })
}

fn part(text: &str) -> Result<Part, String> {
    if text.is_empty() {
        return Err("Prerelease is empty".to_string());
    }
    if text.bytes().all(|b| b.is_ascii_digit()) {
        if text.len() > 1 && text.starts_with('0') {
            return Err(format!("Numeric PreRelease version must not contain leading zeroes {text:?}"));
        }
        return unsigned(text).map(Part::Number);
    }
    if is_alphanumeric(text) {
        return Ok(Part::Text(text.to_string()));
    }
    Err(format!("Invalid character(s) found in prerelease {text:?}"))
}

/// Without a leading `v`, with the numbers that are missing, without leading zeros.
fn normalized(text: &str) -> Result<String, String> {
    let mut parts: Vec<String> = text.strip_prefix('v').unwrap_or(text).splitn(3, '.').map(String::from).collect();
    for part in parts.iter_mut().filter(|part| part.len() > 1) {
        let stripped = part.trim_start_matches('0');
        *part = if stripped.starts_with(|c: char| c.is_ascii_digit()) {
            stripped.to_string()
        } else {
            format!("0{stripped}")
        };
    }
    if parts.len() < 3 && parts.last().is_some_and(|part| part.contains(['+', '-'])) {
        return Err("short version cannot contain PreRelease/Build meta data".to_string());
    }
    parts.resize(parts.len().max(3), "0".to_string());
    Ok(parts.join("."))
}

fn read(text: &str, normalize: bool) -> Result<Version, String> {
    if normalize { parse(&normalized(text)?) } else { parse(text) }
}

fn version() -> Type {
    Type::opaque(NAME)
}

fn construction() -> Vec<Function> {
    use Type::{Bool, String};
    vec![
        priced(
            "semver",
            cost::RECEIVER,
            vec![
                global(
                    "string_to_semver",
                    vec![String],
                    version(),
                    to_semver,
                    "The version; an error for anything else.",
                    "semver('1.2.3').minor() == 2",
                ),
                global(
                    "string_bool_to_semver",
                    vec![String, Bool],
                    version(),
                    to_semver,
                    "The version, where `v1.2` and `01.2` will do if true.",
                    "semver('v1.2', true) == semver('1.2.0')",
                ),
            ],
        ),
        priced(
            "isSemver",
            cost::RECEIVER,
            vec![
                global(
                    "is_semver_string",
                    vec![String],
                    Bool,
                    is_semver,
                    "Whether the text is a version.",
                    "isSemver('1.2.3-rc.1') && !isSemver('1.2')",
                ),
                global(
                    "is_semver_string_bool",
                    vec![String, Bool],
                    Bool,
                    is_semver,
                    "Whether the text is a version, where `v1.2` and `01.2` will do if true.",
                    "isSemver('v1.2', true)",
                ),
            ],
        ),
    ]
}

fn use_of() -> Vec<Function> {
    let two = || vec![version(), version()];
    let of = |name: &str, id, code: Implementation, doc, example| {
        function(name, vec![method(id, vec![version()], Type::Int, code, doc, example)])
    };
    vec![
        function(
            "isGreaterThan",
            vec![method(
                "semver_is_greater_than",
                two(),
                Type::Bool,
                is_greater,
                "Whether it comes after the other.",
                "semver('1.0.0').isGreaterThan(semver('1.0.0-rc.1'))",
            )],
        ),
        function(
            "isLessThan",
            vec![method(
                "semver_is_less_than",
                two(),
                Type::Bool,
                is_less,
                "Whether it comes before the other.",
                "semver('1.2.3').isLessThan(semver('1.10.0'))",
            )],
        ),
        function(
            "compareTo",
            vec![method(
                "semver_compare_to",
                two(),
                Type::Int,
                compare_to,
                "-1, 0 or 1 as it comes before, with or after the other.",
                "semver('1.0.0+a').compareTo(semver('1.0.0+b')) == 0",
            )],
        ),
        of(
            "major",
            "semver_major",
            |_, args| field("major", args, |v| v.major),
            "The first number.",
            "semver('1.2.3').major() == 1",
        ),
        of(
            "minor",
            "semver_minor",
            |_, args| field("minor", args, |v| v.minor),
            "The second number.",
            "semver('1.2.3').minor() == 2",
        ),
        of(
            "patch",
            "semver_patch",
            |_, args| field("patch", args, |v| v.patch),
            "The third number.",
            "semver('1.2.3').patch() == 3",
        ),
    ]
}

fn arguments<'a>(name: &str, args: &'a [Value]) -> Result<(&'a str, bool), Halt> {
    match args {
        [Value::String(text)] => Ok((text, false)),
        [Value::String(text), Value::Bool(normalize)] => Ok((text, *normalize)),
        _ => Err(no_overload_of(name, args)),
    }
}

fn to_semver(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let (text, normalize) = arguments("semver", args)?;
    Ok(Value::Opaque(Arc::new(read(text, normalize).map_err(invalid)?)))
}

fn is_semver(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let (text, normalize) = arguments("isSemver", args)?;
    Ok(Value::Bool(read(text, normalize).is_ok()))
}

fn of(value: &Value) -> Option<&Version> {
    if let Value::Opaque(opaque) = value { opaque.as_any().downcast_ref() } else { None }
}

fn order(name: &str, args: &[Value]) -> Result<Ordering, Halt> {
    let pair = args.first().and_then(of).zip(args.get(1).and_then(of));
    pair.map(|(a, b)| a.order(b)).ok_or_else(|| no_overload_of(name, args))
}

fn is_greater(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    Ok(Value::Bool(order("isGreaterThan", args)?.is_gt()))
}

fn is_less(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    Ok(Value::Bool(order("isLessThan", args)?.is_lt()))
}

fn compare_to(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    Ok(Value::Int(order("compareTo", args)? as i64))
}

/// Numbers above the greatest `int` come out negative, as upstream.
fn field(name: &str, args: &[Value], part: fn(&Version) -> u64) -> Result<Value, Halt> {
    let version = args.first().and_then(of).ok_or_else(|| no_overload_of(name, args))?;
    Ok(Value::Int(part(version).cast_signed()))
}
