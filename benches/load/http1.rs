//! HTTP/1.1 by hand: one request, one answer with a Content-Length.
//!
//! Absent: everything that this server does not send.
use std::io::Write as _;

use memchr::memmem;

use super::{
    client::{Answer, Protocol},
    workload::Asks,
};

/// Keep-alive, as it is by default.
pub struct Http1 {
    head: String,
}

impl Http1 {
    pub fn new(asks: &Asks) -> Http1 {
        let headers: String = asks.headers().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        Http1 { head: format!("POST {} HTTP/1.1\r\nhost: localhost\r\n{headers}content-length: ", asks.path()) }
    }
}

impl Protocol for Http1 {
    fn ask(&mut self, body: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(self.head.as_bytes());
        write!(out, "{}\r\n\r\n", body.len()).unwrap();
        out.extend_from_slice(body);
    }

    fn answer(&mut self, inbox: &mut Vec<u8>, _: &mut Vec<u8>) -> Option<Answer> {
        let end = memmem::find(inbox, b"\r\n\r\n")? + 4;
        let head = &inbox[..end];
        let code = head.strip_prefix(b"HTTP/1.1 ").expect("a status line");
        let field = b"\r\ncontent-length: ";
        let at = memmem::find(head, field).expect("a length") + field.len();
        let length = number(&head[at..]);
        if inbox.len() < end + length {
            return None;
        }
        let answer = Answer { code: Some(number(code)), body: inbox[end..end + length].to_vec() };
        inbox.drain(..end + length);
        Some(answer)
    }
}

fn number(text: &[u8]) -> usize {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold(0, |number, digit| number * 10 + usize::from(digit - b'0'))
}
