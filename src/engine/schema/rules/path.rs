//! A rule's `fieldPath`: `.spec.names['a.b']`.
use crate::engine::{
    diagnostic::FieldPath,
    schema::{Structural, parse::suggestion, structural::Additional},
};

/// The path, where each step is a field of the schema.
///
/// # Errors
/// What is wrong with it.
pub(super) fn parse(text: &str, schema: &Structural) -> Result<FieldPath, String> {
    let mut path = FieldPath::root();
    let mut schema = schema;
    let mut rest = text;
    while !rest.is_empty() {
        let (name, tail) = step(rest)?;
        rest = tail;
        if let Some(property) = schema.properties.get(&name) {
            (path, schema) = (path.field(&name), property);
        } else if let Some(Additional::Schema(values)) =
            schema.additional.as_ref().filter(|_| schema.properties.is_empty())
        {
            (path, schema) = (path.key(&name), values);
        } else {
            let near = suggestion(&name, schema.properties.iter().map(|(name, _)| &**name));
            let near = near.map(|near| format!("; {near}")).unwrap_or_default();
            return Err(format!("`{name}` does not refer to a valid field{near}"));
        }
    }
    if path.steps().is_empty() { Err("must name a field: `.name`".to_owned()) } else { Ok(path) }
}

fn step(text: &str) -> Result<(String, &str), String> {
    if let Some(rest) = text.strip_prefix('.') {
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        let (name, tail) = rest.split_at_checked(end).unwrap_or((rest, ""));
        return if name.is_empty() {
            Err("a name is missing behind `.`".to_owned())
        } else {
            Ok((name.to_owned(), tail))
        };
    }
    let Some(rest) = text.strip_prefix("['") else {
        return Err(format!("must go on with `.name` or `['name']`, not `{text}`"));
    };
    let mut name = String::new();
    let mut chars = rest.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                return chars
                    .as_str()
                    .strip_prefix(']')
                    .map(|tail| (name, tail))
                    .ok_or_else(|| "`]` is missing".to_owned());
            }
            '\\' => name.push(match chars.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('r') => '\r',
                Some(c @ ('\'' | '\\')) => c,
                _ => return Err("unknown escape".to_owned()),
            }),
            c => name.push(c),
        }
    }
    Err("`'` is missing".to_owned())
}
