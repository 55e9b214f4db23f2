//! HTTP/1.1 by hand: one request, one answer with a Content-Length.
//!
//! Absent: everything that this server does not send.
use std::{io::Write as _, sync::LazyLock};

use memchr::memmem;

use super::{client::Protocol, workload};

/// Keep-alive, as it is by default.
pub struct Http1;

static HEAD: LazyLock<String> = LazyLock::new(|| {
    let headers: String = workload::HEADERS.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    format!("POST {} HTTP/1.1\r\nhost: localhost\r\n{headers}content-length: ", workload::PATH)
});

impl Protocol for Http1 {
    fn ask(&mut self, body: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(HEAD.as_bytes());
        write!(out, "{}\r\n\r\n", body.len()).unwrap();
        out.extend_from_slice(body);
    }

    fn answer(&mut self, inbox: &mut Vec<u8>, _: &mut Vec<u8>) -> Option<Vec<u8>> {
        let end = memmem::find(inbox, b"\r\n\r\n")? + 4;
        let head = &inbox[..end];
        assert!(head.starts_with(b"HTTP/1.1 201 "), "{}", String::from_utf8_lossy(inbox));
        let field = b"\r\ncontent-length: ";
        let at = memmem::find(head, field).expect("a length") + field.len();
        let digits = head[at..].iter().take_while(|byte| byte.is_ascii_digit());
        let length = digits.fold(0, |length, digit| length * 10 + usize::from(digit - b'0'));
        if inbox.len() < end + length {
            return None;
        }
        let body = inbox[end..end + length].to_vec();
        inbox.drain(..end + length);
        Some(body)
    }
}
