//! A tree back to text: one line, single quotes, only the parentheses that are needed. Parsing it gives the same tree.
//!
//! Macros are printed as they were written, not as what they became. The printer keeps its own stack, so no tree is too
//! deep for it.
//!
//! Absent: comments, line breaks.
use std::fmt::{self, Write as _};

use crate::ast::{Ast, Kind, Literal, MacroCall, NodeId};

/// How tightly a form binds; a form needs parentheses where a tighter one is wanted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Conditional,
    Or,
    And,
    Relation,
    Sum,
    Product,
    Prefix,
    Member,
}

/// What is left to print.
enum Piece<'a> {
    Text(&'a str),
    Node(NodeId, Level),
    Field(&'a str),
}

/// The text of a node of `ast`.
fn print(ast: &Ast, id: NodeId) -> String {
    let mut out = String::new();
    let mut open = vec![Piece::Node(id, Level::Conditional)];
    while let Some(piece) = open.pop() {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Field(name) => field(name, &mut out),
            Piece::Node(id, wanted) => {
                let (level, mut pieces) = pieces(ast, id, &mut out, wanted);
                if level < wanted {
                    pieces.insert(0, Piece::Text("("));
                    pieces.push(Piece::Text(")"));
                }
                open.extend(pieces.into_iter().rev());
            }
        }
    }
    out
}

impl fmt::Display for Ast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print(self, self.root()))
    }
}

/// A node's form and its parts. Literals are written at once.
fn pieces<'a>(ast: &'a Ast, id: NodeId, out: &mut String, wanted: Level) -> (Level, Vec<Piece<'a>>) {
    if let Some(call) = ast.macro_call(id) {
        let MacroCall { target, function, args, .. } = call;
        return (Level::Member, call_pieces(*target, function, args));
    }
    let Some(node) = ast.node(id) else { return (Level::Member, vec![]) };
    match &node.kind {
        Kind::Literal(value) => {
            // `-(1)` is no literal, and `-1.f()` would do but is hard to read.
            let negative = match value {
                Literal::Int(i) => *i < 0,
                Literal::Double(d) => d.is_sign_negative(),
                _ => false,
            };
            if negative && wanted >= Level::Member {
                out.push('(');
                literal(value, out);
                out.push(')');
            } else {
                literal(value, out);
            }
            (Level::Member, vec![])
        }
        Kind::Ident(name) => (Level::Member, vec![Piece::Text(name)]),
        Kind::Select { operand, field, test_only, .. } => {
            let mut pieces = vec![Piece::Node(*operand, Level::Member), Piece::Text("."), Piece::Field(field)];
            if *test_only {
                pieces.insert(0, Piece::Text("has("));
                pieces.push(Piece::Text(")"));
            }
            (Level::Member, pieces)
        }
        Kind::Call { target: None, function, args, .. } => {
            operator(ast, id, function, args).unwrap_or_else(|| (Level::Member, call_pieces(None, function, args)))
        }
        Kind::Call { target, function, args, .. } => (Level::Member, call_pieces(*target, function, args)),
        Kind::List { elements } => {
            let entries = elements.iter().map(|(element, optional)| {
                let mut pieces = if *optional { vec![Piece::Text("?")] } else { vec![] };
                pieces.push(Piece::Node(*element, Level::Conditional));
                pieces
            });
            (Level::Member, bracketed("[", entries, "]"))
        }
        Kind::Map { entries } => {
            let entries = entries.iter().map(|entry| {
                let mut pieces = if entry.optional { vec![Piece::Text("?")] } else { vec![] };
                pieces.push(Piece::Node(entry.key, Level::Conditional));
                pieces.push(Piece::Text(": "));
                pieces.push(Piece::Node(entry.value, Level::Conditional));
                pieces
            });
            (Level::Member, bracketed("{", entries, "}"))
        }
        Kind::Struct { name, fields } => {
            let fields = fields.iter().map(|field| {
                let mut pieces = if field.optional { vec![Piece::Text("?")] } else { vec![] };
                pieces.extend([
                    Piece::Field(&field.name),
                    Piece::Text(": "),
                    Piece::Node(field.value, Level::Conditional),
                ]);
                pieces
            });
            let mut pieces = vec![Piece::Text(name)];
            pieces.extend(bracketed("{", fields, "}"));
            (Level::Member, pieces)
        }
        // Only macros make folds, and they are recorded: this is for a tree that says otherwise.
        Kind::Comprehension(c) => {
            (Level::Member, vec![Piece::Node(c.iter_range, Level::Member), Piece::Text(".@fold()")])
        }
    }
}

fn call_pieces<'a>(target: Option<NodeId>, function: &'a str, args: &[NodeId]) -> Vec<Piece<'a>> {
    let mut pieces = vec![];
    if let Some(target) = target {
        pieces.extend([Piece::Node(target, Level::Member), Piece::Text(".")]);
    }
    pieces.push(Piece::Text(function));
    pieces.extend(bracketed("(", args.iter().map(|arg| vec![Piece::Node(*arg, Level::Conditional)]), ")"));
    pieces
}

fn bracketed<'a>(open: &'a str, entries: impl Iterator<Item = Vec<Piece<'a>>>, close: &'a str) -> Vec<Piece<'a>> {
    let mut pieces = vec![Piece::Text(open)];
    for (i, entry) in entries.enumerate() {
        if i > 0 {
            pieces.push(Piece::Text(", "));
        }
        pieces.extend(entry);
    }
    pieces.push(Piece::Text(close));
    pieces
}

/// The form of an operator's call; `None` if `function` is none.
fn operator<'a>(ast: &'a Ast, id: NodeId, function: &str, args: &[NodeId]) -> Option<(Level, Vec<Piece<'a>>)> {
    use Piece::{Node, Text};
    if let [only] = *args {
        let sign = match function {
            "!_" => "!",
            "-_" => "-",
            _ => return None,
        };
        // A sign before a number would be a part of it.
        if sign == "-" && starts_with_number(ast, only) {
            return Some((Level::Prefix, vec![Text("-("), Node(only, Level::Conditional), Text(")")]));
        }
        return Some((Level::Prefix, vec![Text(sign), Node(only, Level::Member)]));
    }
    if let [condition, then, otherwise] = *args {
        let pieces = vec![
            Node(condition, Level::Or),
            Text(" ? "),
            Node(then, Level::Or),
            Text(" : "),
            Node(otherwise, Level::Conditional),
        ];
        return (function == "_?_:_").then_some((Level::Conditional, pieces));
    }
    let [left, right] = *args else { return None };
    let (level, tighter, text) = match function {
        "_||_" => return Some((Level::Or, chain(ast, id, function, " || ", Level::And))),
        "_&&_" => return Some((Level::And, chain(ast, id, function, " && ", Level::Relation))),
        "_==_" => (Level::Relation, Level::Sum, " == "),
        "_!=_" => (Level::Relation, Level::Sum, " != "),
        "_<_" => (Level::Relation, Level::Sum, " < "),
        "_<=_" => (Level::Relation, Level::Sum, " <= "),
        "_>_" => (Level::Relation, Level::Sum, " > "),
        "_>=_" => (Level::Relation, Level::Sum, " >= "),
        "@in" => (Level::Relation, Level::Sum, " in "),
        "_+_" => (Level::Sum, Level::Product, " + "),
        "_-_" => (Level::Sum, Level::Product, " - "),
        "_*_" => (Level::Product, Level::Prefix, " * "),
        "_/_" => (Level::Product, Level::Prefix, " / "),
        "_%_" => (Level::Product, Level::Prefix, " % "),
        "_[_]" => {
            return Some((
                Level::Member,
                vec![Node(left, Level::Member), Text("["), Node(right, Level::Conditional), Text("]")],
            ));
        }
        "_[?_]" => {
            return Some((
                Level::Member,
                vec![Node(left, Level::Member), Text("[?"), Node(right, Level::Conditional), Text("]")],
            ));
        }
        "_?._" => {
            let Some(Kind::Literal(Literal::String(name))) = ast.node(right).map(|node| &node.kind) else {
                return None;
            };
            return Some((Level::Member, vec![Node(left, Level::Member), Text(".?"), Piece::Field(name)]));
        }
        _ => return None,
    };
    Some((level, vec![Node(left, level), Text(text), Node(right, tighter)]))
}

/// Whether the text of a node begins with a number without a sign.
fn starts_with_number(ast: &Ast, mut id: NodeId) -> bool {
    loop {
        if let Some(MacroCall { target, .. }) = ast.macro_call(id) {
            match target {
                Some(target) => id = *target,
                None => return false,
            }
            continue;
        }
        match ast.node(id).map(|node| &node.kind) {
            Some(Kind::Literal(Literal::Int(i))) => return *i >= 0,
            Some(Kind::Literal(Literal::Double(d))) => return d.is_sign_positive(),
            Some(Kind::Select { operand, .. }) => id = *operand,
            Some(Kind::Call { target: Some(target), .. }) => id = *target,
            Some(Kind::Call { function, args, .. }) if matches!(&**function, "_[_]" | "_[?_]" | "_?._") => {
                match args.first() {
                    Some(operand) => id = *operand,
                    None => return false,
                }
            }
            _ => return false,
        }
    }
}

/// `a && b && c`, if that is parsed to this very tree; else its two sides, nested chains in parentheses.
fn chain<'a>(ast: &'a Ast, id: NodeId, function: &str, text: &'static str, tighter: Level) -> Vec<Piece<'a>> {
    let mut terms = vec![];
    let mut open = vec![id];
    while let Some(next) = open.pop() {
        match sides(ast, next, function) {
            Some((left, right)) => open.extend([right, left]),
            None => terms.push(next),
        }
    }
    if !is_balanced(ast, id, function, terms.len()) {
        terms = sides(ast, id, function).map(|(left, right)| vec![left, right]).unwrap_or_default();
    }
    let mut pieces = vec![];
    for (i, term) in terms.into_iter().enumerate() {
        if i > 0 {
            pieces.push(Piece::Text(text));
        }
        pieces.push(Piece::Node(term, tighter));
    }
    pieces
}

fn sides(ast: &Ast, id: NodeId, wanted: &str) -> Option<(NodeId, NodeId)> {
    match &ast.node(id)?.kind {
        Kind::Call { target: None, function, args, .. } if &**function == wanted && ast.macro_call(id).is_none() => {
            match args.as_slice() {
                [left, right] => Some((*left, *right)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether the chain at `id`, of `terms` terms, has the shape that the parser gives a chain of that length.
fn is_balanced(ast: &Ast, id: NodeId, function: &str, terms: usize) -> bool {
    let mut open = vec![(id, terms)];
    while let Some((id, terms)) = open.pop() {
        match sides(ast, id, function) {
            None if terms == 1 => {}
            Some((left, right)) if terms > 1 => {
                let in_left = (terms - 1) / 2 + 1;
                open.extend([(left, in_left), (right, terms - in_left)]);
            }
            _ => return false,
        }
    }
    true
}

/// A field's name, in back-quotes if it needs them.
fn field(name: &str, out: &mut String) {
    let mut chars = name.chars();
    let plain = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !matches!(name, "true" | "false" | "null" | "in");
    if plain {
        out.push_str(name);
    } else {
        out.push('`');
        out.push_str(name);
        out.push('`');
    }
}

fn literal(value: &Literal, out: &mut String) {
    // Writing to a string does not fail.
    let _ = match value {
        Literal::Null => out.write_str("null"),
        Literal::Bool(b) => write!(out, "{b}"),
        Literal::Int(i) => write!(out, "{i}"),
        Literal::Uint(u) => write!(out, "{u}u"),
        Literal::Double(d) => write!(out, "{d:?}"),
        Literal::String(s) => {
            out.push('\'');
            s.chars().for_each(|c| character(c, out));
            out.write_char('\'')
        }
        Literal::Bytes(bytes) => {
            out.push_str("b'");
            for &byte in bytes.iter() {
                match byte {
                    0x20..0x7f => character(byte.into(), out),
                    _ => _ = write!(out, "\\x{byte:02x}"),
                }
            }
            out.write_char('\'')
        }
    };
}

fn character(c: char, out: &mut String) {
    match c {
        '\'' | '\\' => out.extend(['\\', c]),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if c.is_control() => _ = write!(out, "\\u{:04x}", u32::from(c)),
        c => out.push(c),
    }
}

#[cfg(test)]
mod tests;
