//! Kubernetes' URLs: `url('https://example.com/').getHost()`.
//!
//! Absent: reading text (parse).
mod parse;

use std::{any::Any, collections::BTreeMap, sync::Arc};

use parse::{Url, query_unescape};

use crate::{
    eval::{Context, Halt},
    library::{
        Function, Implementation, Library,
        build::{function, global, invalid, method, no_overload_of, priced},
        cost,
    },
    types::Type,
    value::{MapBuilder, Opaque, Value},
};

const NAME: &str = "kubernetes.URL";

/// The library.
pub(crate) fn library() -> Library {
    let ty = || Type::opaque(NAME);
    let mut functions = getters();
    functions.push(priced(
        "url",
        cost::RECEIVER_KEPT,
        vec![global(
            "string_to_url",
            vec![Type::String],
            ty(),
            to_url,
            "The URL, absolute or a path; an error for anything else.",
            "url('https://example.com/a').getHost() == 'example.com'",
        )],
    ));
    functions.push(function(
        "isURL",
        vec![global(
            "is_url_string",
            vec![Type::String],
            Type::Bool,
            is_url,
            "Whether the text is a URL.",
            "isURL('https://example.com') && !isURL('a b')",
        )],
    ));
    Library { name: "kubernetes.url", functions, ..Library::default() }
}

fn getters() -> Vec<Function> {
    let of = |name: &str, id, code: Implementation, doc, example| {
        function(name, vec![method(id, vec![Type::opaque(NAME)], Type::String, code, doc, example)])
    };
    let query = Type::map(Type::String, Type::list(Type::String));
    vec![
        of(
            "getEscapedPath",
            "url_get_escaped_path",
            |context, args| part(context, "getEscapedPath", args, Url::escaped_path),
            "The path, escaped.",
            "url('https://h/a b').getEscapedPath() == '/a%20b'",
        ),
        of(
            "getHost",
            "url_get_host",
            |context, args| part(context, "getHost", args, |url| url.host.clone()),
            "The host with the port.",
            "url('https://h:80/').getHost() == 'h:80'",
        ),
        of(
            "getHostname",
            "url_get_hostname",
            |context, args| part(context, "getHostname", args, |url| url.split_host().0),
            "The host without the port and brackets.",
            "url('https://[::1]:80/').getHostname() == '::1'",
        ),
        of(
            "getPort",
            "url_get_port",
            |context, args| part(context, "getPort", args, |url| url.split_host().1),
            "The port, empty without one.",
            "url('https://h:80/').getPort() == '80'",
        ),
        of(
            "getScheme",
            "url_get_scheme",
            |context, args| part(context, "getScheme", args, |url| url.scheme.clone()),
            "The scheme, empty without one.",
            "url('HTTPS://h/').getScheme() == 'https'",
        ),
        function(
            "getQuery",
            vec![method(
                "url_get_query",
                vec![Type::opaque(NAME)],
                query,
                get_query,
                "The values of each parameter of the query.",
                "url('https://h/?a=1&a=2').getQuery() == {'a': ['1', '2']}",
            )],
        ),
    ]
}

/// Work of each byte, which no price counts: reading a URL takes some 15 ns for one, its query 25 ns and the memory of many small
/// values, another part 3 ns.
const PARSE_WORK: u64 = 10;
const QUERY_WORK: u64 = 20;
const PART_WORK: u64 = 3;

#[derive(Debug)]
struct Parsed(Url);

impl Opaque for Parsed {
    fn type_of(&self) -> Type {
        Type::opaque(NAME)
    }
    fn equals(&self, other: &dyn Opaque) -> bool {
        other.as_any().downcast_ref::<Parsed>().is_some_and(|other| self.0.to_string() == other.0.to_string())
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn to_json(&self) -> Option<Value> {
        Some(self.0.to_string().into())
    }
}

/// Whether a text is a URI as a request may have it, with Go's words for what is wrong.
pub(super) fn check(text: &str) -> Result<(), String> {
    parse::request(text).map(|_| ()).map_err(|error| format!("parse {}: {error}", go_quoted(text)))
}

/// Go's `%q`, for what addresses may hold.
fn go_quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_ascii_control() => quoted.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

fn read(text: &str) -> Result<Url, Halt> {
    // A request has no fragment: what stands after a `#` is known only to the second reading.
    let read = match parse::request(text) {
        Ok(_) if text.contains('#') => parse::with_fragment(text),
        read => read,
    };
    read.map_err(|error| format!("parse {}: {error}", go_quoted(text)))
        .map_err(|error| invalid(format!("URL parse error during conversion from string: {error}")))
}

fn to_url(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [Value::String(text)] => Ok({
            context.spend(PARSE_WORK * text.len() as u64)?;
            Value::Opaque(Arc::new(Parsed(read(text)?)))
        }),
        _ => Err(no_overload_of("url", args)),
    }
}

fn is_url(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [Value::String(text)] => {
            context.spend(PARSE_WORK * text.len() as u64)?;
            Ok(Value::Bool(check(text).is_ok()))
        }
        _ => Err(no_overload_of("isURL", args)),
    }
}

fn url_of<'a>(name: &str, args: &'a [Value]) -> Result<&'a Url, Halt> {
    match args {
        [Value::Opaque(opaque)] => opaque.as_any().downcast_ref::<Parsed>().map(|parsed| &parsed.0),
        _ => None,
    }
    .ok_or_else(|| no_overload_of(name, args))
}

fn part(context: &mut Context<'_>, name: &str, args: &[Value], part: fn(&Url) -> String) -> Result<Value, Halt> {
    let url = url_of(name, args)?;
    context.spend(PART_WORK * url.len())?;
    Ok(part(url).into())
}

/// Parts that are not well-formed are left out, as Go does.
fn get_query(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let url = url_of("getQuery", args)?;
    context.spend(QUERY_WORK * url.len())?;
    let query = &url.query;
    let mut parameters: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty() && !pair.contains(';')) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        if let (Ok(key), Ok(value)) = (query_unescape(key), query_unescape(value)) {
            parameters.entry(key).or_default().push(value.into());
        }
    }
    let mut map = MapBuilder::with_capacity(parameters.len());
    for (key, values) in parameters {
        map.insert(key.as_str(), Value::List(values.into()));
    }
    Ok(Value::Map(map.build()))
}
