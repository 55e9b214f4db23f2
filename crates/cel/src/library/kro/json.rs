//! JSON in texts: `json.marshal`, `json.unmarshal`.
//!
//! Written canonically: keys in order, no space, and numbers, texts and escapes as Go writes them, so that equal values have
//! equal texts, and the same as kro's. Whole numbers are exact both ways. What JSON cannot hold is an error.
//!
//! Absent: values to and from other formats (`crate::json`).
use std::fmt::Write;

use base64::{Engine, prelude::BASE64_STANDARD};

use crate::{
    estimate::{Bounds, Guess, Operand, rule::size},
    eval::{Context, Halt},
    json::decode,
    library::{
        Cost, Library,
        build::{at, function, global, invalid, no_overload_of, type_name},
        cost::{self, Price},
    },
    limits::MAX_VALUE_DEPTH,
    types::Type,
    value::{Key, Map, Value, print_duration},
};

/// The library.
pub(crate) fn library() -> Library {
    let written = Price::new(
        Cost::Result(|_, result| 1 + result.map_or(0, |text| cost::tenth(cost::size(Some(text))))),
        written,
        "1 and a tenth of the text's size",
    );
    let read = Price::new(
        Cost::Args(|args| 1 + cost::fifth(cost::size(args.first()))),
        |args| Guess::cost(size(args, 0).scaled(0.2) + Bounds::exactly(1)),
        "1 and a fifth of the text's size",
    );
    let functions = vec![
        function(
            "json.marshal",
            vec![at(
                written,
                global(
                    "json.marshal_dyn",
                    vec![Type::Dyn],
                    Type::String,
                    marshal,
                    "The value as JSON, keys in order; bytes as base64, times and durations as `string()` gives them, \
                     absent optionals in maps left out. An error for what JSON cannot hold.",
                    r#"json.marshal({'b': [1, 2.5, null], 'a': b'hi'}) == '{"a":"aGk=","b":[1,2.5,null]}'"#,
                ),
            )],
        ),
        function(
            "json.unmarshal",
            vec![at(
                read,
                global(
                    "json.unmarshal_string",
                    vec![Type::String],
                    Type::Dyn,
                    unmarshal,
                    "The value of a JSON text: numbers are int where they are whole and fit, else double. An error where a key \
                     is repeated.",
                    r#"json.unmarshal('{"a": [1, 2.5]}').a == [1, 2.5]"#,
                ),
            )],
        ),
    ];
    Library { name: "kro.json", functions, ..Library::default() }
}

/// A text's characters may each be escaped; of anything else only the number of elements is known.
fn written(args: &[Operand<'_>]) -> Guess {
    let one = Bounds::exactly(1);
    match args.first().map(|arg| arg.ty) {
        Some(Type::String | Type::Bytes) => {
            let text = size(args, 0);
            let text = Bounds::new(text.min, text.scaled(6.0).max) + Bounds::exactly(2);
            Guess::cost(text.scaled(0.1) + one).sized(text)
        }
        Some(Type::List(_) | Type::Map(_)) => {
            let elements = args.first().and_then(|arg| arg.element).map_or(one, |(_, element)| element + one);
            Guess::cost((size(args, 0) * elements).scaled(0.1) + one)
        }
        Some(Type::Dyn | Type::Object(_) | Type::Optional(_) | Type::Param(_)) => {
            Guess::cost(size(args, 0).scaled(0.1) + one)
        }
        // No other value is longer.
        _ => Guess::cost(Bounds::new(2, 7)).sized(Bounds::new(1, 64)),
    }
}

fn marshal(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let [value] = args else { return Err(no_overload_of("json.marshal", args)) };
    let mut writer = Writer { context, text: String::new() };
    writer.value(value, MAX_VALUE_DEPTH)?;
    Ok(writer.text.into())
}

fn unmarshal(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let [Value::String(text)] = args else { return Err(no_overload_of("json.unmarshal", args)) };
    // The texts in it; what holds them is counted as it is made.
    context.spend(text.len() as u64)?;
    let mut repeated = None;
    let mut stopped = None;
    let mut reader = serde_json::Deserializer::from_str(text);
    // The decoder has its own limit.
    reader.disable_recursion_limit();
    let value = decode::counted(
        &mut reader,
        &mut |path| {
            repeated.get_or_insert_with(|| path.to_string());
        },
        &mut |work| context.spend(work).map_err(|halt| stopped = Some(halt)).is_ok(),
    );
    let value = value.and_then(|value| reader.end().map(|()| value));
    if let Some(halt) = stopped {
        return Err(halt);
    }
    let refused = |why: String| invalid(format!("json.unmarshal failed to parse JSON: {why}"));
    let value = value.map_err(|error| refused(error.to_string()))?;
    match repeated {
        Some(path) => Err(refused(format!("key {path:?} is repeated"))),
        None => Ok(value),
    }
}

fn unwritable(why: impl std::fmt::Display) -> Halt {
    invalid(format!("json.marshal failed to convert value: {why}"))
}

/// Counts what it writes before it is written.
struct Writer<'c, 'h> {
    context: &'c mut Context<'h>,
    text: String,
}

impl Writer<'_, '_> {
    fn raw(&mut self, text: &str) -> Result<(), Halt> {
        self.context.spend(text.len() as u64)?;
        self.text.push_str(text);
        Ok(())
    }

    fn value(&mut self, value: &Value, levels: usize) -> Result<(), Halt> {
        let below = levels.checked_sub(1).ok_or_else(Halt::too_deep)?;
        // A character has at most 4 bytes, so that the price is at least this.
        self.context.afford(cost::tenth(self.text.len() as u64 / 4))?;
        self.context.spend(cost::WRITTEN)?;
        match value {
            Value::Null => self.raw("null"),
            Value::Bool(b) => self.raw(if *b { "true" } else { "false" }),
            Value::Int(i) => self.raw(&i.to_string()),
            Value::Uint(u) => self.raw(&u.to_string()),
            Value::Double(d) => self.raw(&double(*d)?),
            Value::String(s) => self.string(s),
            Value::Bytes(bytes) => {
                self.context.spend(bytes.len() as u64)?;
                self.string(&BASE64_STANDARD.encode(bytes))
            }
            Value::Timestamp(t) => self.string(&t.to_string()),
            Value::Duration(nanos) => {
                let mut text = String::new();
                print_duration(&mut text, *nanos).map_err(unwritable)?;
                self.string(&text)
            }
            Value::List(list) => {
                self.raw("[")?;
                for (i, value) in list.iter().enumerate() {
                    if i > 0 {
                        self.raw(",")?;
                    }
                    self.value(value, below)?;
                }
                self.raw("]")
            }
            Value::Map(map) => self.map(map, below),
            Value::Optional(Some(value)) => self.value(value, below),
            Value::Optional(None) => Err(unwritable("an absent optional has no value")),
            Value::Type(_) => Err(unwritable("unsupported type: type")),
            Value::Opaque(opaque) => match opaque.to_json() {
                Some(value) => self.value(&value, below),
                None => Err(unwritable(format_args!("unsupported type: {}", type_name(value)))),
            },
        }
    }

    fn map(&mut self, map: &Map, levels: usize) -> Result<(), Halt> {
        self.context.spend((map.len() * size_of::<(&str, &Value)>()) as u64)?;
        let mut entries: Vec<(&str, &Value)> = Vec::with_capacity(map.len());
        for (key, value) in map.iter() {
            match key {
                _ if matches!(value, Value::Optional(None)) => {}
                Key::String(key) => entries.push((key, value)),
                key => {
                    let ty = type_name(&key.into());
                    return Err(unwritable(format_args!("map key must be string, got {ty}")));
                }
            }
        }
        entries.sort_unstable_by_key(|(key, _)| *key);
        self.raw("{")?;
        for (i, (key, value)) in entries.into_iter().enumerate() {
            if i > 0 {
                self.raw(",")?;
            }
            self.string(key)?;
            self.raw(":")?;
            self.value(value, levels)?;
        }
        self.raw("}")
    }

    /// In quotes. What ends a line or a script elsewhere is escaped too, as Go does.
    fn string(&mut self, text: &str) -> Result<(), Halt> {
        let special = |c: char| matches!(c, '\0'..='\x1f' | '"' | '\\' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}');
        self.raw("\"")?;
        let mut rest = text;
        while let Some((plain, c)) = rest.find(special).and_then(|at| Some((rest.get(..at)?, rest.get(at..)?))) {
            self.raw(plain)?;
            let mut chars = c.chars();
            self.escape(chars.next())?;
            rest = chars.as_str();
        }
        self.raw(rest)?;
        self.raw("\"")
    }

    fn escape(&mut self, c: Option<char>) -> Result<(), Halt> {
        match c {
            None => Ok(()),
            Some('"') => self.raw("\\\""),
            Some('\\') => self.raw("\\\\"),
            Some('\x08') => self.raw("\\b"),
            Some('\x0c') => self.raw("\\f"),
            Some('\n') => self.raw("\\n"),
            Some('\r') => self.raw("\\r"),
            Some('\t') => self.raw("\\t"),
            Some(c) => {
                self.context.spend(6)?;
                write!(self.text, "\\u{:04x}", u32::from(c)).map_err(unwritable)
            }
        }
    }
}

/// As Go and JavaScript write it: the shortest digits that are this number; an exponent from 1e21 on and below 1e-6.
fn double(d: f64) -> Result<String, Halt> {
    if !d.is_finite() {
        return Err(unwritable(format_args!("unsupported value: {}", crate::format::number::general(d))));
    }
    let size = d.abs();
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let text = format!("{d:e}");
        return Ok(if size >= 1.0 { text.replace('e', "e+") } else { text });
    }
    Ok(d.to_string())
}
