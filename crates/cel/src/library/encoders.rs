//! Base64: `base64.encode`, `base64.decode`.
//!
//! Absent: other encodings.
use base64::{
    DecodeError, Engine,
    alphabet::STANDARD,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};

use crate::{
    eval::{Context, Halt},
    library::{
        Library,
        build::{function, global, invalid, no_overload_of},
    },
    types::Type,
    value::Value,
};

/// Padded or not, as cel-go reads both.
const ENGINE: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// The library.
pub(crate) fn library() -> Library {
    let functions = vec![
        function(
            "base64.decode",
            vec![global(
                "base64_decode_string",
                vec![Type::String],
                Type::Bytes,
                decode,
                "The bytes of a base64 text.",
                "base64.decode('aGVsbG8=') == b'hello'",
            )],
        ),
        function(
            "base64.encode",
            vec![global(
                "base64_encode_bytes",
                vec![Type::Bytes],
                Type::String,
                encode,
                "Bytes as base64 text.",
                "base64.encode(b'hello') == 'aGVsbG8='",
            )],
        ),
    ];
    Library { name: "encoders", functions, ..Library::default() }
}

fn decode(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let [Value::String(text)] = args else { return Err(no_overload_of("base64.decode", args)) };
    context.spend(text.len() as u64)?;
    // Go skips line ends anywhere.
    let clean: String = text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
    match ENGINE.decode(&clean) {
        Ok(bytes) => Ok(Value::Bytes(bytes.into())),
        Err(error) => Err(invalid(format!("illegal base64 data at input byte {}", place(error, clean.len())))),
    }
}

fn place(error: DecodeError, length: usize) -> usize {
    match error {
        DecodeError::InvalidByte(at, _) | DecodeError::InvalidLastSymbol { offset: at, .. } => at,
        // The beginning of the group that is not whole.
        DecodeError::InvalidLength(_) | DecodeError::InvalidPadding => length.saturating_sub(1) / 4 * 4,
    }
}

fn encode(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [Value::Bytes(bytes)] => {
            context.spend(bytes.len() as u64)?;
            Ok(base64::prelude::BASE64_STANDARD.encode(bytes).into())
        }
        _ => Err(no_overload_of("base64.encode", args)),
    }
}
