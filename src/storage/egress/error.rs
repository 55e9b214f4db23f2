//! Why a call gave nothing, by whose fault it is.
//!
//! INVARIANT: no text here carries an address, a URL, a header, a body or a credential; the variants cannot hold them.
//! Absent: the Status that a client gets (failure).
use std::{sync::Arc, time::Duration};

/// Why a call gave nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EgressError {
    /// There is no such policy.
    #[error("there is no egress policy `{policy}`")]
    UnknownPolicy {
        /// Its name.
        policy: Arc<str>,
    },
    /// The policy is there, and wrong.
    #[error("egress policy `{policy}` is invalid")]
    InvalidPolicy {
        /// Its name.
        policy: Arc<str>,
    },
    /// `usableBy.schemas` does not name the schema.
    #[error("egress policy `{policy}` is not usable by schema `{schema}`")]
    Schema {
        /// The policy.
        policy: Arc<str>,
        /// The schema.
        schema: Arc<str>,
    },
    /// `usableBy.workspaces` does not name the workspace.
    #[error("egress policy `{policy}` is not usable in workspace `{workspace}`")]
    Workspace {
        /// The policy.
        policy: Arc<str>,
        /// The workspace.
        workspace: Arc<str>,
    },
    /// The URL is not one that is ever called.
    #[error("the URL is refused: {0}")]
    Url(#[from] UrlFault),
    /// No endpoint of the policy allows the call.
    #[error("egress policy `{policy}` does not allow the {part} of the call")]
    NotAllowed {
        /// The policy.
        policy: Arc<str>,
        /// What no endpoint allows; endpoints that fit best are judged by their first difference.
        part: Part,
    },
    /// A header field that no call may set.
    #[error("header field `{name}` may not be set by a call")]
    Header {
        /// Its name.
        name: Arc<str>,
    },
    /// A header field whose value holds characters that no header field may hold.
    #[error("the value of header field `{name}` holds a character that no header field may hold")]
    HeaderValue {
        /// Its name.
        name: Arc<str>,
    },
    /// The policy's credentials are not to be had.
    #[error("the credentials of egress policy `{policy}` are not available: {fault}")]
    Credentials {
        /// The policy.
        policy: Arc<str>,
        /// Why.
        fault: CredentialsFault,
    },
    /// The host has an address that the policy does not allow.
    #[error("the host is in a network that egress policy `{policy}` does not allow")]
    Network {
        /// The policy.
        policy: Arc<str>,
    },
    /// Too many calls in a time.
    #[error("egress policy `{policy}` allows no more calls at the moment")]
    Rate {
        /// The policy.
        policy: Arc<str>,
        /// When it may be tried again.
        retry_after: Duration,
    },
    /// Too many calls at a time.
    #[error("too many calls of egress policy `{policy}` are unanswered")]
    InFlight {
        /// The policy.
        policy: Arc<str>,
    },
    /// Too much of what was answered is still in use.
    #[error("the answers in use of the workspace take too much memory")]
    Memory,
    /// The backend failed too often; it is left alone for a while.
    #[error("the backend failed repeatedly and is not called for a while")]
    Open {
        /// When it may be tried again.
        retry_after: Duration,
    },
    /// The backend answered 429.
    #[error("the backend is called too often (429)")]
    BackendBusy {
        /// When it may be tried again, where the backend said so.
        retry_after: Option<Duration>,
    },
    /// The name of the host has no addresses.
    #[error("the backend's name could not be resolved")]
    Resolve,
    /// No connection.
    #[error("the backend could not be connected to")]
    Connect,
    /// No trust.
    #[error("the backend's TLS is not acceptable: {0}")]
    Tls(#[from] TlsFault),
    /// The connection ended before the answer was whole, or what came was not HTTP.
    #[error("the backend broke off its answer")]
    Broken,
    /// A redirect.
    #[error("the backend answered a redirect ({status}); redirects are not followed")]
    Redirect {
        /// 3xx
        status: u16,
    },
    /// The backend wants other credentials than the policy's.
    #[error("the backend refused the credentials ({status})")]
    Refused {
        /// 401 or 403
        status: u16,
    },
    /// Another status that is no success.
    #[error("the backend answered {status}")]
    Status {
        /// The status.
        status: u16,
    },
    /// The body is of no use.
    #[error("the backend's answer is of no use: {0}")]
    Body(#[from] BodyFault),
    /// The pages are of no use.
    #[error("the backend's pages are of no use: {0}")]
    Pages(#[from] PagesFault),
    /// The deadline passed.
    #[error("the backend did not answer in time")]
    Timeout,
}

/// Who has to do something about an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The author of the schema: the call is wrong.
    Author,
    /// The platform administrator: the policy does not allow the call, or is wrong.
    Administrator,
    /// The backend.
    Backend,
    /// Nobody: there is too much to do at the moment.
    Load,
    /// Time.
    Deadline,
}

impl EgressError {
    /// Who has to do something about it.
    pub fn fault(&self) -> Fault {
        match self {
            EgressError::Url(_) | EgressError::Header { .. } | EgressError::HeaderValue { .. } => Fault::Author,
            EgressError::UnknownPolicy { .. }
            | EgressError::InvalidPolicy { .. }
            | EgressError::Schema { .. }
            | EgressError::Workspace { .. }
            | EgressError::NotAllowed { .. }
            | EgressError::Network { .. }
            | EgressError::Credentials { .. } => Fault::Administrator,
            EgressError::Rate { .. }
            | EgressError::InFlight { .. }
            | EgressError::Memory
            | EgressError::Open { .. }
            | EgressError::BackendBusy { .. } => Fault::Load,
            EgressError::Resolve
            | EgressError::Connect
            | EgressError::Tls(_)
            | EgressError::Broken
            | EgressError::Redirect { .. }
            | EgressError::Refused { .. }
            | EgressError::Status { .. }
            | EgressError::Body(_)
            | EgressError::Pages(_) => Fault::Backend,
            EgressError::Timeout => Fault::Deadline,
        }
    }

    /// When it may be tried again, where that is known.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            EgressError::Rate { retry_after, .. } | EgressError::Open { retry_after } => Some(*retry_after),
            EgressError::BackendBusy { retry_after } => *retry_after,
            _ => None,
        }
    }
}

/// The part of a call that no endpoint of a policy allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Part {
    /// `https`
    #[error("scheme")]
    Scheme,
    /// `metrics.acme.example`
    #[error("host")]
    Host,
    /// `443`
    #[error("port")]
    Port,
    /// `/api/v1/`
    #[error("path")]
    Path,
    /// `GET`
    #[error("method")]
    Method,
}

/// What is wrong with a URL. Refused, not repaired: a server behind may read a doubtful URL in another way than we do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlFault {
    /// Longer than any server must accept.
    #[error("it is longer than 8192 bytes")]
    Length,
    /// Spaces, control characters, or what has to be percent-encoded and is not.
    #[error("it holds a character that has to be percent-encoded")]
    Character,
    /// `\`
    #[error("it holds a backslash")]
    Backslash,
    /// Neither http nor https.
    #[error("its scheme is neither http nor https")]
    Scheme,
    /// `user:password@`
    #[error("it holds user information")]
    UserInfo,
    /// No name, or one that cannot be a host.
    #[error("its host is not a valid name or address")]
    Host,
    /// `127.1`, `0x7f.0.0.1`, `2130706433`
    #[error("its host is an IPv4 address in an unusual form")]
    OddAddress,
    /// Not a number from 1 to 65535.
    #[error("its port is not a number from 1 to 65535")]
    Port,
    /// `#`
    #[error("it holds a fragment")]
    Fragment,
    /// `%` without two hexadecimal digits.
    #[error("it holds an incomplete percent-encoding")]
    Percent,
    /// `..`, in any spelling that some server may read as such.
    #[error("its path holds a dot segment")]
    DotSegment,
    /// `//`
    #[error("its path holds an empty segment")]
    EmptySegment,
    /// Control characters or no UTF-8 after decoding.
    #[error("its path holds an encoded control character or what is not UTF-8")]
    Encoded,
}

/// Why a backend is not trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TlsFault {
    /// Its time is over, or has not come.
    #[error("its certificate is expired or not yet valid")]
    Expired,
    /// It is for another name.
    #[error("its certificate is for another name")]
    Name,
    /// Nobody whom the policy trusts signed it.
    #[error("its certificate is not signed by a trusted authority")]
    Issuer,
    /// Something else about it.
    #[error("its certificate is invalid")]
    Certificate,
    /// It only speaks versions before TLS 1.2, no TLS at all, or nothing that we have in common.
    #[error("no common protocol version (TLS 1.2 or newer) or parameters")]
    Handshake,
}

/// Why a body is of no use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyFault {
    /// Longer than the policy allows, before or after decompression.
    #[error("it is longer than {limit} bytes")]
    TooLarge {
        /// The policy's bound.
        limit: usize,
    },
    /// A `Content-Encoding` that was not offered.
    #[error("its content encoding is not one of gzip, br, zstd")]
    Encoding,
    /// Its compression is broken.
    #[error("its compression is broken")]
    Compression,
    /// Another type than the source expects.
    #[error("its content type is not {expected}")]
    ContentType {
        /// `JSON`
        expected: &'static str,
    },
    /// Another character set than UTF-8, US-ASCII or ISO-8859-1.
    #[error("its character set is not UTF-8")]
    Charset,
    /// It is not JSON.
    #[error("it is not JSON (line {line}, column {column})")]
    Json {
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
    },
    /// A number that no double holds.
    #[error("it holds a number that is too large (line {line}, column {column})")]
    Number {
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
    },
    /// It holds what was sent as credentials: whoever reads the answer would read them.
    #[error("it repeats the credentials that it was asked with")]
    Echo,
    /// JSON that is too deep.
    #[error("its JSON nests too deeply")]
    Depth,
    /// More values than we hold for one answer.
    #[error("its JSON holds more than {limit} values")]
    Values {
        /// The bound.
        limit: usize,
    },
}

/// Why pages are of no use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PagesFault {
    /// More values than we hold for one answer.
    #[error("they hold more than {limit} values")]
    Values {
        /// The bound.
        limit: usize,
    },
    /// More than the call allows.
    #[error("there are more than {limit} pages")]
    TooMany {
        /// The bound.
        limit: u32,
    },
    /// All pages together are longer than the policy allows.
    #[error("together they are longer than {limit} bytes")]
    TooLarge {
        /// The policy's bound.
        limit: usize,
    },
    /// A page that was already read.
    #[error("a page leads back to one already read")]
    Loop,
    /// The next page is elsewhere, or its URL is not one that the policy allows.
    #[error("the next page is at a URL that is not allowed")]
    Next,
    /// There is no list where the items should be.
    #[error("a page holds no list of items")]
    Items,
    /// The cursor is neither a string nor a number.
    #[error("a page's cursor is neither a string nor a number")]
    Cursor,
}

/// Why there are no credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CredentialsFault {
    /// There is no such Secret, or no such key in it.
    #[error("the Secret or its key is missing")]
    Missing,
    /// It could not be read just now.
    #[error("the Secret could not be read")]
    Unreadable,
    /// It is longer than servers take, or holds characters that no header field may hold.
    #[error("the Secret is empty or too long, or holds characters that cannot be sent")]
    Unfit,
    /// The token endpoint is not one of the policy's.
    #[error("the token endpoint is not an endpoint of the policy")]
    TokenUrl,
    /// The token endpoint answered wrongly or not at all.
    #[error("the token endpoint gave no token")]
    Token,
}
