//! `jsonpatch.escapeKey`: a key as a part of a JSON pointer.
//!
//! Absent: the types of patches, which an engine declares.
use crate::{
    eval::{Context, Halt},
    library::{
        Library,
        build::{global, no_overload_of, priced},
        cost,
    },
    types::Type,
    value::Value,
};

/// The library.
pub(crate) fn library() -> Library {
    let overload = global(
        "jsonpatch_escapeKey",
        vec![Type::String],
        Type::String,
        escape_key,
        "The key with `~` as `~0` and `/` as `~1`.",
        "jsonpatch.escapeKey('a/b') == 'a~1b'",
    );
    Library {
        name: "kubernetes.jsonpatch",
        functions: vec![priced("jsonpatch.escapeKey", cost::RECEIVER_KEPT, vec![overload])],
        ..Library::default()
    }
}

fn escape_key(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [Value::String(key)] => Ok(key.replace('~', "~0").replace('/', "~1").into()),
        _ => Err(no_overload_of("jsonpatch.escapeKey", args)),
    }
}
