//! Bodies: reading a request's within its bounds, the type of an answer's.
//!
//! Absent: what the bytes mean.
use std::{error::Error, fmt, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, header};
use http_body_util::{BodyExt, Full, combinators::UnsyncBoxBody};
use hyper::body::Body as HttpBody;

/// The body of an answer; it cannot fail, only end.
pub type Body = UnsyncBoxBody<Bytes, std::convert::Infallible>;

/// A body that is there already.
pub fn full(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).boxed_unsync()
}

/// Why a body was not read.
#[derive(Debug)]
pub enum BodyError {
    /// Longer than this many bytes.
    TooLarge(usize),
    /// Not there in time.
    Timeout(Duration),
    /// The connection broke, or the framing is wrong.
    Broken(Box<dyn Error + Send + Sync>),
}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BodyError::TooLarge(limit) => write!(f, "Request entity too large: limit is {limit}"),
            BodyError::Timeout(t) => write!(f, "the body of the request did not arrive within {} s", t.as_secs_f32()),
            BodyError::Broken(_) => f.write_str("unexpected EOF while reading the body of the request"),
        }
    }
}

impl Error for BodyError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            BodyError::Broken(e) => Some(&**e),
            BodyError::TooLarge(_) | BodyError::Timeout(_) => None,
        }
    }
}

/// Reads a whole body of at most `limit` bytes within `deadline`. One whose announced length is too great is not read.
pub async fn read<B>(headers: &HeaderMap, body: B, limit: usize, deadline: Duration) -> Result<Bytes, BodyError>
where
    B: HttpBody<Data = Bytes>,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|v| v.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|n| n > limit as u64) {
        return Err(BodyError::TooLarge(limit));
    }
    tokio::time::timeout(deadline, collect(body, limit)).await.unwrap_or(Err(BodyError::Timeout(deadline)))
}

async fn collect<B>(body: B, limit: usize) -> Result<Bytes, BodyError>
where
    B: HttpBody<Data = Bytes>,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let mut body = std::pin::pin!(body);
    let (mut first, mut rest) = (Bytes::new(), Vec::new());
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|e| BodyError::Broken(e.into()))?.into_data() else { continue };
        if first.len() + rest.len() + data.len() > limit {
            return Err(BodyError::TooLarge(limit));
        }
        // A body of one frame, the usual case, is not copied.
        if first.is_empty() && rest.is_empty() {
            first = data;
        } else {
            if rest.is_empty() {
                rest.extend_from_slice(&std::mem::take(&mut first));
            }
            rest.extend_from_slice(&data);
        }
    }
    Ok(if rest.is_empty() { first } else { rest.into() })
}

#[cfg(test)]
mod tests {
    use http_body_util::StreamBody;
    use hyper::body::Frame;

    use super::*;

    fn chunks(chunks: &[&'static str]) -> impl HttpBody<Data = Bytes, Error = std::convert::Infallible> {
        let frames: Vec<_> = chunks.iter().map(|c| Ok(Frame::data(Bytes::from_static(c.as_bytes())))).collect();
        StreamBody::new(futures_util::stream::iter(frames))
    }

    #[tokio::test]
    async fn reads_up_to_the_limit() {
        let headers = HeaderMap::new();
        let second = Duration::from_secs(1);
        assert_eq!(read(&headers, chunks(&["ab", "cd", "e"]), 5, second).await.unwrap(), "abcde");
        assert_eq!(read(&headers, chunks(&["abcde"]), 5, second).await.unwrap(), "abcde");
        let e = read(&headers, chunks(&["ab", "cd", "ef"]), 5, second).await.unwrap_err();
        assert_eq!(e.to_string(), "Request entity too large: limit is 5");
    }

    #[tokio::test]
    async fn does_not_read_what_is_announced_too_long() {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_LENGTH, "6".parse().unwrap());
        let never = StreamBody::new(futures_util::stream::pending::<Result<Frame<Bytes>, std::convert::Infallible>>());
        let e = read(&headers, never, 5, Duration::from_secs(3600)).await.unwrap_err();
        assert!(matches!(e, BodyError::TooLarge(5)));
    }

    #[tokio::test]
    async fn gives_up_on_slow_ones() {
        let never = StreamBody::new(futures_util::stream::pending::<Result<Frame<Bytes>, std::convert::Infallible>>());
        let e = read(&HeaderMap::new(), never, 5, Duration::from_millis(1)).await.unwrap_err();
        assert!(matches!(e, BodyError::Timeout(_)));
    }
}
