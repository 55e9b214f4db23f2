//! One thread that keeps all connections busy, each with one request at a time: it takes as little as it can of the
//! processors that the server needs too. Every answer is looked at.
//!
//! Absent: how requests and answers are written (http1, http2), what is asked (workload).
use std::{
    io::{ErrorKind, Read as _, Write as _},
    time::{Duration, Instant},
};

use mio::{Events, Interest, Poll, Token, net::TcpStream};
use rustls::{ClientConnection, pki_types::ServerName};

use super::{http1::Http1, http2::Http2, server::Server, workload::Asks};

/// The protocol on the wire. kubectl speaks HTTP/2 where the server does.
#[derive(Clone, Copy)]
pub enum Version {
    Http1,
    Http2,
}

impl Version {
    pub fn name(self) -> &'static str {
        match self {
            Version::Http1 => "HTTP/1.1",
            Version::Http2 => "HTTP/2",
        }
    }
}

/// Requests and answers on one connection, one after the other.
pub trait Protocol: Send {
    /// Writes the request with this body.
    fn ask(&mut self, body: &[u8], out: &mut Vec<u8>);

    /// The answer, once all of it has come. `inbox` holds what was not used yet. What has to be said without being asked goes
    /// to `out`.
    fn answer(&mut self, inbox: &mut Vec<u8>, out: &mut Vec<u8>) -> Option<Answer>;
}

/// An answer.
pub struct Answer {
    /// The status; `None` where it is not read.
    pub code: Option<usize>,
    pub body: Vec<u8>,
}

/// Connections to one server.
pub struct Client {
    asks: Asks,
    /// Between an answer and the next request, of all connections together.
    pub pause: Duration,
    poll: Poll,
    connections: Vec<Connection>,
    next: u32,
}

/// What a run saw.
pub struct Ran {
    /// How long each answer took.
    pub micros: Vec<u32>,
    /// How many were told that there is no room.
    pub refused: usize,
    /// How long the run took.
    pub taken: Duration,
}

struct Connection {
    socket: TcpStream,
    tls: ClientConnection,
    protocol: Box<dyn Protocol>,
    inbox: Vec<u8>,
    outbox: Vec<u8>,
    /// The request in flight, and when it was sent.
    asked: Option<(u32, Instant)>,
}

impl Client {
    pub fn connect(server: &Server, version: Version, connections: usize, asks: Asks) -> Client {
        let poll = Poll::new().unwrap();
        let alpn: &[u8] = match version {
            Version::Http1 => b"http/1.1",
            Version::Http2 => b"h2",
        };
        let config = server.tls(alpn);
        let connections = (0..connections).map(|index| {
            let stream = std::net::TcpStream::connect(server.address()).unwrap();
            stream.set_nodelay(true).unwrap();
            stream.set_nonblocking(true).unwrap();
            let mut socket = TcpStream::from_std(stream);
            poll.registry().register(&mut socket, Token(index), Interest::READABLE | Interest::WRITABLE).unwrap();
            let name = ServerName::try_from("localhost").unwrap();
            let protocol: Box<dyn Protocol> = match version {
                Version::Http1 => Box::new(Http1::new(&asks)),
                Version::Http2 => Box::new(Http2::new(asks)),
            };
            let mut tls = ClientConnection::new(config.clone(), name).unwrap();
            // A request may have megabytes.
            tls.set_buffer_limit(None);
            Connection { socket, tls, protocol, inbox: vec![], outbox: vec![], asked: None }
        });
        Client { asks, pause: Duration::ZERO, connections: connections.collect(), poll, next: 0 }
    }

    /// Asks as long as it is to, then waits for what is in flight.
    pub fn run(&mut self, mut go_on: impl FnMut(Duration) -> bool) -> Ran {
        let (mut micros, mut refused) = (Vec::with_capacity(1 << 20), 0);
        let mut events = Events::with_capacity(1024);
        let begun = Instant::now();
        for connection in &mut self.connections {
            connection.ask(&self.asks, &mut self.next);
        }
        let mut open = self.connections.len();
        while open > 0 {
            self.poll.poll(&mut events, Some(Duration::from_secs(10))).unwrap();
            assert!(!events.is_empty(), "no answer for 10 s");
            for event in &events {
                let connection = &mut self.connections[event.token().0];
                // With the answer all is read that can have come; more makes another event.
                if let Some((taken, answered)) = connection.answer(&self.asks) {
                    match answered {
                        true => micros.push(u32::try_from(taken.as_micros()).unwrap()),
                        false => refused += 1,
                    }
                    if go_on(begun.elapsed()) {
                        if !self.pause.is_zero() {
                            std::thread::sleep(self.pause);
                        }
                        connection.ask(&self.asks, &mut self.next);
                    } else {
                        open -= 1;
                    }
                }
            }
        }
        Ran { micros, refused, taken: begun.elapsed() }
    }
}

impl Connection {
    fn ask(&mut self, asks: &Asks, next: &mut u32) {
        let number = *next;
        *next += 1;
        self.asked = Some((number, Instant::now()));
        self.protocol.ask(asks.body(number).as_bytes(), &mut self.outbox);
        self.send();
    }

    /// How long the answer in flight took, and whether it is one, if it is here; else all that came is read, and what there is
    /// room for is sent.
    fn answer(&mut self, asks: &Asks) -> Option<(Duration, bool)> {
        self.send();
        loop {
            match self.tls.read_tls(&mut self.socket) {
                Ok(0) => panic!("the server hung up"),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return None,
                Err(error) => panic!("{error}"),
            }
            let length = self.tls.process_new_packets().unwrap().plaintext_bytes_to_read();
            self.tls.reader().take(length as u64).read_to_end(&mut self.inbox).unwrap();
            let answer = self.protocol.answer(&mut self.inbox, &mut self.outbox);
            self.send();
            if let Some(Answer { code, body }) = answer {
                let (number, sent) = self.asked.take().expect("an answer to nothing");
                let refused = asks.may_be_refused && code == Some(429);
                let right = code.is_none_or(|code| code == asks.code) && asks.is_right(&body, number);
                assert!(right || refused, "{code:?} {}", String::from_utf8_lossy(&body));
                return Some((sent.elapsed(), right));
            }
        }
    }

    fn send(&mut self) {
        if !self.outbox.is_empty() {
            self.tls.writer().write_all(&self.outbox).unwrap();
            self.outbox.clear();
        }
        while self.tls.wants_write() {
            match self.tls.write_tls(&mut self.socket) {
                Ok(_) => {}
                // What is left goes when there is room.
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) => panic!("{error}"),
            }
        }
    }
}
