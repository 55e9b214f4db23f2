//! Where sockets are opened: to vetted addresses only, the next one tried when one does not answer soon.
//!
//! Absent: names (resolve), judgement (address), TLS (tls).
use std::{collections::VecDeque, fmt, io, net::SocketAddr, time::Duration};

use futures_util::{StreamExt, future::BoxFuture, stream::FuturesUnordered};
use tokio::io::{AsyncRead, AsyncWrite};

/// How long one address is waited for before the next one is tried as well (RFC 8305, section 5).
const ATTEMPT_DELAY: Duration = Duration::from_millis(250);

/// Addresses of one name that are tried at most.
const MOST_ATTEMPTS: usize = 6;

/// A connection.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Opens connections. Everything that leaves passes here.
pub trait Dial: fmt::Debug + Send + Sync {
    /// A connection to an address.
    fn dial(&self, address: SocketAddr) -> BoxFuture<'static, io::Result<Box<dyn Stream>>>;
}

/// TCP, directly: no proxy, whatever the environment says.
#[derive(Clone, Copy, Debug, Default)]
pub struct TcpDialer;

impl Dial for TcpDialer {
    fn dial(&self, address: SocketAddr) -> BoxFuture<'static, io::Result<Box<dyn Stream>>> {
        Box::pin(async move {
            let stream = tokio::net::TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            Ok(Box::new(stream) as Box<dyn Stream>)
        })
    }
}

/// A connection to the first of some addresses that answers; they are tried in turns of their families.
pub async fn first(dialer: &dyn Dial, addresses: &[SocketAddr]) -> io::Result<Box<dyn Stream>> {
    let mut waiting: VecDeque<SocketAddr> = in_turns(addresses).into_iter().take(MOST_ATTEMPTS).collect();
    let mut running = FuturesUnordered::new();
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    loop {
        if let Some(address) = waiting.pop_front() {
            running.push(dialer.dial(address));
        }
        // Until one answers, fails, or is slow; when all were tried, until one answers or all failed.
        let answer = if waiting.is_empty() {
            running.next().await
        } else {
            match tokio::time::timeout(ATTEMPT_DELAY, running.next()).await {
                Ok(answer) => answer,
                Err(_) => continue,
            }
        };
        match answer {
            Some(Ok(stream)) => return Ok(stream),
            Some(Err(error)) => last = error,
            None if waiting.is_empty() => return Err(last),
            None => {}
        }
    }
}

/// IPv6 and IPv4 by turns, beginning with the family that the resolver put first (RFC 8305, section 4).
fn in_turns(addresses: &[SocketAddr]) -> Vec<SocketAddr> {
    let first_is_v4 = addresses.first().is_some_and(SocketAddr::is_ipv4);
    let (first, second): (Vec<_>, Vec<_>) = addresses.iter().copied().partition(|a| a.is_ipv4() == first_is_v4);
    let mut second = second.into_iter();
    let mut ordered = vec![];
    for address in first {
        ordered.push(address);
        ordered.extend(second.next());
    }
    ordered.extend(second);
    ordered
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// Answers at addresses that end in 9, never at those that end in 1, refuses at others.
    #[derive(Debug, Default)]
    struct Fake(Arc<Mutex<Vec<SocketAddr>>>);

    impl Dial for Fake {
        fn dial(&self, address: SocketAddr) -> BoxFuture<'static, io::Result<Box<dyn Stream>>> {
            self.0.lock().unwrap().push(address);
            Box::pin(async move {
                let text = address.ip().to_string();
                match text.chars().last() {
                    Some('9') => Ok(Box::new(tokio::io::empty()) as Box<dyn Stream>),
                    Some('1') => std::future::pending().await,
                    _ => Err(io::ErrorKind::ConnectionRefused.into()),
                }
            })
        }
    }

    async fn check(addresses: &[&str], answered: bool, tried: &[&str]) {
        let parse = |texts: &[&str]| -> Vec<SocketAddr> {
            texts.iter().map(|text| SocketAddr::new(text.parse().unwrap(), 1)).collect()
        };
        let fake = Fake::default();
        assert_eq!(first(&fake, &parse(addresses)).await.is_ok(), answered);
        assert_eq!(*fake.0.lock().unwrap(), parse(tried));
    }

    #[tokio::test(start_paused = true)]
    async fn the_next_address_is_tried_when_one_fails_or_is_slow() {
        check(&["192.0.2.9", "192.0.2.2"], true, &["192.0.2.9"]).await;
        check(&["192.0.2.2", "192.0.2.1", "::9"], true, &["192.0.2.2", "::9"]).await;
        check(&["::1", "::2", "192.0.2.1", "::9"], true, &["::1", "192.0.2.1", "::2", "::9"]).await;
        check(&["192.0.2.2", "::2"], false, &["192.0.2.2", "::2"]).await;
        check(&[], false, &[]).await;
    }
}
