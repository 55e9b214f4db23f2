//! Compressed bodies to plain ones, with a bound: a bomb stops when it has unfolded that far.
//!
//! Absent: what is in them (body).
use std::io::Read;

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use http::{HeaderMap, header};
use ruzstd::decoding::{
    BlockDecodingStrategy, FrameDecoder,
    errors::{FrameDecoderError, ReadFrameHeaderError},
};

use crate::storage::egress::error::BodyFault;

/// What calls say they take.
pub(super) const ACCEPTED: &str = "gzip, br, zstd";

/// Windows that decoders of zstd should support (RFC 8878, section 3.1.1.1.2); larger ones are for memory to be spent.
const ZSTD_WINDOW: u64 = 8 * 1024 * 1024;

/// Bytes that are unfolded before they are counted.
const STEP: usize = 64 * 1024;

/// A way to compress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Gzip,
    Brotli,
    Zstd,
}

/// How a body is compressed. Compressed twice is none of the ways.
pub(super) fn encoding(headers: &HeaderMap) -> Result<Option<Encoding>, BodyFault> {
    let mut values = headers.get_all(header::CONTENT_ENCODING).iter();
    let (first, second) = (values.next(), values.next());
    let text = first.map_or(Ok(""), |value| value.to_str().map_err(|_| BodyFault::Encoding))?;
    match (text.trim().to_ascii_lowercase().as_str(), second) {
        ("" | "identity", None) => Ok(None),
        ("gzip" | "x-gzip", None) => Ok(Some(Encoding::Gzip)),
        ("br", None) => Ok(Some(Encoding::Brotli)),
        ("zstd", None) => Ok(Some(Encoding::Zstd)),
        _ => Err(BodyFault::Encoding),
    }
}

/// Unfolds a body to at most `limit` bytes.
pub(super) fn decompress(encoding: Encoding, bytes: &[u8], limit: usize) -> Result<Vec<u8>, BodyFault> {
    let mut out = Bounded { bytes: vec![], limit };
    match encoding {
        Encoding::Gzip => gzip(bytes, &mut out)?,
        Encoding::Brotli => brotli(bytes, &mut out)?,
        Encoding::Zstd => zstd(bytes, &mut out)?,
    }
    Ok(out.bytes)
}

struct Bounded {
    bytes: Vec<u8>,
    limit: usize,
}

impl Bounded {
    fn push(&mut self, bytes: &[u8]) -> Result<(), BodyFault> {
        if self.bytes.len() + bytes.len() > self.limit {
            return Err(BodyFault::TooLarge { limit: self.limit });
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }
}

fn gzip(bytes: &[u8], out: &mut Bounded) -> Result<(), BodyFault> {
    let mut reader = flate2::read::MultiGzDecoder::new(bytes);
    let mut step = vec![0; STEP];
    loop {
        match reader.read(&mut step) {
            Ok(0) => return Ok(()),
            Ok(n) => out.push(step.get(..n).unwrap_or_default())?,
            Err(_) => return Err(BodyFault::Compression),
        }
    }
}

fn brotli(mut bytes: &[u8], out: &mut Bounded) -> Result<(), BodyFault> {
    let alloc = StandardAlloc::default;
    // Strict: without the windows of up to 1 GiB that RFC 7932 does not have.
    let mut state = BrotliState::new_strict(alloc(), alloc(), alloc());
    let mut step = vec![0; STEP];
    loop {
        let (mut available, mut read, mut room, mut written, mut total) = (bytes.len(), 0, step.len(), 0, 0);
        let result = BrotliDecompressStream(
            &mut available,
            &mut read,
            bytes,
            &mut room,
            &mut written,
            &mut step,
            &mut total,
            &mut state,
        );
        out.push(step.get(..written).unwrap_or_default())?;
        bytes = bytes.get(read..).unwrap_or_default();
        match result {
            BrotliResult::ResultSuccess if bytes.is_empty() => return Ok(()),
            BrotliResult::NeedsMoreOutput => {}
            BrotliResult::ResultSuccess | BrotliResult::NeedsMoreInput | BrotliResult::ResultFailure => {
                return Err(BodyFault::Compression);
            }
        }
    }
}

fn zstd(mut bytes: &[u8], out: &mut Bounded) -> Result<(), BodyFault> {
    let mut decoder = FrameDecoder::new();
    decoder.set_max_window_size(ZSTD_WINDOW);
    while !bytes.is_empty() {
        match decoder.reset(&mut bytes) {
            Ok(()) => {}
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                let length = usize::try_from(length).map_err(|_| BodyFault::Compression)?;
                bytes = bytes.get(length..).ok_or(BodyFault::Compression)?;
                continue;
            }
            Err(_) => return Err(BodyFault::Compression),
        }
        while !decoder.is_finished() {
            let step = BlockDecodingStrategy::UptoBytes(STEP);
            decoder.decode_blocks(&mut bytes, step).map_err(|_| BodyFault::Compression)?;
            out.push(&decoder.collect().unwrap_or_default())?;
        }
        out.push(&decoder.collect().unwrap_or_default())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    fn gzipped(bytes: &[u8]) -> Vec<u8> {
        let mut writer = flate2::write::GzEncoder::new(vec![], flate2::Compression::best());
        writer.write_all(bytes).unwrap();
        writer.finish().unwrap()
    }

    /// `hello` as one uncompressed meta-block (RFC 7932, section 9).
    const HELLO_BROTLI: &[u8] = b"\x0b\x02\x80hello\x03";

    #[test]
    fn bodies_are_unfolded_up_to_the_bound() {
        let zeros = vec![0; 1 << 20];
        let zstd = compress_to_vec(zeros.as_slice(), CompressionLevel::Fastest);
        for (encoding, bytes) in [(Encoding::Gzip, gzipped(&zeros)), (Encoding::Zstd, zstd)] {
            assert_eq!(decompress(encoding, &bytes, 1 << 20).as_ref(), Ok(&zeros), "{encoding:?}");
            let limit = (1 << 20) - 1;
            assert_eq!(decompress(encoding, &bytes, limit), Err(BodyFault::TooLarge { limit }), "{encoding:?}");
            let half = &bytes[..bytes.len() / 2];
            assert_eq!(decompress(encoding, half, 1 << 20), Err(BodyFault::Compression), "{encoding:?}");
            assert_eq!(decompress(encoding, b"nonsense", 1 << 20), Err(BodyFault::Compression), "{encoding:?}");
        }
        assert_eq!(decompress(Encoding::Brotli, HELLO_BROTLI, 5).as_deref(), Ok(&b"hello"[..]));
        assert_eq!(decompress(Encoding::Brotli, HELLO_BROTLI, 4), Err(BodyFault::TooLarge { limit: 4 }));
        assert_eq!(decompress(Encoding::Brotli, &HELLO_BROTLI[..6], 5), Err(BodyFault::Compression));
        assert_eq!(decompress(Encoding::Brotli, b"\x11\xff\xff", 5), Err(BodyFault::Compression));
        let twice = [gzipped(b"a"), gzipped(b"b")].concat();
        assert_eq!(decompress(Encoding::Gzip, &twice, 2).as_deref(), Ok(&b"ab"[..]));
    }

    #[test]
    fn encodings_that_were_not_offered_are_refused() {
        let headers = |values: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(header::CONTENT_ENCODING, http::HeaderValue::from_static(value));
            }
            encoding(&headers)
        };
        assert_eq!(headers(&[]), Ok(None));
        assert_eq!(headers(&["GZIP"]), Ok(Some(Encoding::Gzip)));
        for values in [&["gzip, gzip"][..], &["deflate"], &["gzip", "gzip"], &["compress"]] {
            assert_eq!(headers(values), Err(BodyFault::Encoding), "{values:?}");
        }
    }
}
