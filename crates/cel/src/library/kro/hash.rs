//! Checksums of texts: `hash.fnv64a`, `hash.sha256`, `hash.md5`. They give bytes, most significant first.
//!
//! Absent: how bytes are written (encoders).
use md5::Md5;
use sha2::{Digest, Sha256};

use crate::{
    estimate::{Bounds, Guess, Rule, rule::size},
    eval::{Context, Halt},
    library::{
        Cost, Function, Implementation, Library,
        build::{at, function, global, no_overload_of},
        cost::{self, Price},
    },
    types::Type,
    value::Value,
};

/// The library.
pub(crate) fn library() -> Library {
    let of = |name: &str, id, estimate: Rule, code: Implementation, doc, example| -> Function {
        let price = Price::new(
            Cost::Args(|args| 1 + cost::tenth(cost::size(args.first()))),
            estimate,
            "1 and a tenth of the text's size",
        );
        function(name, vec![at(price, global(id, vec![Type::String], Type::Bytes, code, doc, example))])
    };
    let functions = vec![
        of(
            "hash.fnv64a",
            "hash.fnv64a_string",
            |args| Guess::cost(walk(size(args, 0))).sized(Bounds::exactly(8)),
            |context, args| hash("hash.fnv64a", context, args, |text| fnv64a(text).to_be_bytes().as_slice().into()),
            "The 64-bit FNV-1a hash: 8 bytes. Quick; not for secrets.",
            "base64.encode(hash.fnv64a('hello')) == 'pDDYRoCqvQs='",
        ),
        of(
            "hash.sha256",
            "hash.sha256_string",
            |args| Guess::cost(walk(size(args, 0))).sized(Bounds::exactly(32)),
            |context, args| hash("hash.sha256", context, args, |text| Sha256::digest(text).as_slice().into()),
            "The SHA-256 hash: 32 bytes.",
            "base64.encode(hash.sha256('hello')) == 'LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ='",
        ),
        of(
            "hash.md5",
            "hash.md5_string",
            |args| Guess::cost(walk(size(args, 0))).sized(Bounds::exactly(16)),
            |context, args| hash("hash.md5", context, args, |text| Md5::digest(text).as_slice().into()),
            "The MD5 hash: 16 bytes. For old formats only.",
            "base64.encode(hash.md5('hello')) == 'XUFAKrxLKna5cZ2REBfFkg=='",
        ),
    ];
    Library { name: "kro.hash", functions, ..Library::default() }
}

fn walk(text: Bounds) -> Bounds {
    text.scaled(0.1) + Bounds::exactly(1)
}

fn hash(
    function: &str,
    context: &mut Context<'_>,
    args: &[Value],
    of: impl Fn(&[u8]) -> std::sync::Arc<[u8]>,
) -> Result<Value, Halt> {
    let [Value::String(text)] = args else { return Err(no_overload_of(function, args)) };
    context.spend(text.len() as u64)?;
    Ok(Value::Bytes(of(text.as_bytes())))
}

/// The offset basis and the prime are the algorithm's.
fn fnv64a(text: &[u8]) -> u64 {
    text.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fnv_agrees_with_its_published_vectors() {
        assert_eq!(fnv64a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv64a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv64a(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
