//! HTTP/2 by hand (RFC 9113), as Go's client uses it: headers are indexed (RFC 7541) from the second request on, and windows
//! are opened wide at the beginning.
//!
//! Absent: reading header blocks: that a 201 came is told by the body alone, for no failure has the body of an answer.
use super::{
    client::{Answer, Protocol},
    workload::Asks,
};

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const WINDOW_UPDATE: u8 = 8;
const RST_STREAM: u8 = 3;
const GOAWAY: u8 = 7;

const END_STREAM: u8 = 1;
const ACK: u8 = 1;
const END_HEADERS: u8 = 4;

/// Entries of HPACK's static table.
const STATIC: usize = 61;

/// Streams one after the other.
pub struct Http2 {
    asks: Asks,
    stream: u32,
    body: Vec<u8>,
}

impl Http2 {
    pub fn new(asks: Asks) -> Http2 {
        Http2 { asks, stream: 0, body: vec![] }
    }
}

impl Protocol for Http2 {
    fn ask(&mut self, body: &[u8], out: &mut Vec<u8>) {
        let first = self.stream == 0;
        if first {
            out.extend_from_slice(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
            // Go's: no push, 4 MiB of window for each stream, 1 GiB for all.
            let settings = [&[0, 2, 0, 0, 0, 0][..], &[0, 4, 0, 0x40, 0, 0]].concat();
            frame(SETTINGS, 0, 0, &settings, out);
            frame(WINDOW_UPDATE, 0, 0, &(1_u32 << 30).to_be_bytes(), out);
            self.stream = 1;
        } else {
            self.stream += 2;
        }
        frame(HEADERS, END_HEADERS, self.stream, &head(&self.asks, first, body.len()), out);
        frame(DATA, END_STREAM, self.stream, body, out);
    }

    fn answer(&mut self, inbox: &mut Vec<u8>, out: &mut Vec<u8>) -> Option<Answer> {
        let mut used = 0;
        let mut answer = None;
        while answer.is_none()
            && let Some(&[a, b, c, kind, flags, s0, s1, s2, s3]) = inbox[used..].first_chunk::<9>()
        {
            let length = u32::from_be_bytes([0, a, b, c]) as usize;
            let Some(payload) = inbox.get(used + 9..used + 9 + length) else { break };
            used += 9 + length;
            match kind {
                DATA => {
                    assert_eq!(u32::from_be_bytes([s0, s1, s2, s3]), self.stream);
                    self.body.extend_from_slice(payload);
                    if flags & END_STREAM != 0 {
                        answer = Some(Answer { code: None, body: std::mem::take(&mut self.body) });
                    }
                }
                SETTINGS | PING if flags & ACK == 0 => {
                    let echo = if kind == PING { payload } else { &[] };
                    frame(kind, ACK, 0, echo, out);
                }
                RST_STREAM | GOAWAY => panic!("frame {kind}: {payload:?}"),
                _ => {}
            }
        }
        inbox.drain(..used);
        answer
    }
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(payload.len() as u32).to_be_bytes()[1..]);
    out.extend_from_slice(&[kind, flags]);
    out.extend_from_slice(&stream.to_be_bytes());
    out.extend_from_slice(payload);
}

/// The header block of a request, the same in each: what the first adds to the dynamic table, the others name.
fn head(asks: &Asks, first: bool, length: usize) -> Vec<u8> {
    // `:method: POST` and `:scheme: https` are in the static table.
    let mut out = vec![0x80 | 3, 0x80 | 7];
    let (length, path) = (length.to_string(), asks.path());
    let own = [(":authority", "localhost"), (":path", &*path), ("content-length", &*length)];
    let all: Vec<(&str, &str)> = own.into_iter().chain(asks.headers().map(|header| header as (&str, &str))).collect();
    for (position, (name, value)) in all.iter().enumerate() {
        if first {
            out.push(0x40);
            text(name, &mut out);
            text(value, &mut out);
        } else {
            // The newest comes first.
            out.push(0x80 | u8::try_from(STATIC + all.len() - position).unwrap());
        }
    }
    out
}

fn text(text: &str, out: &mut Vec<u8>) {
    // A length of 7 bits, continued in groups of 7; not Huffman-coded.
    match text.len() {
        length @ 0..127 => out.push(length as u8),
        length @ 127..255 => out.extend_from_slice(&[127, (length - 127) as u8]),
        _ => panic!("too long: {text}"),
    }
    out.extend_from_slice(text.as_bytes());
}
