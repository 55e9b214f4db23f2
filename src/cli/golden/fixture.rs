//! One fixture of `http/*.yaml`: which request it is for, and what a backend would answer to it.
//!
//! Absent: which fixtures there are and which of them is taken (fixtures), how they are made of real answers (record).
use std::{collections::BTreeMap, time::Duration};

use bytes::Bytes;
use cel::Value;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, header};
use percent_encoding::percent_decode_str;

use super::{GoldenError, fields::Fields};
use crate::storage::egress::{EgressError, error::TlsFault, stand_in::Delay, target::Target};

/// A request and what becomes of it.
#[derive(Clone, Debug)]
pub(super) struct Fixture {
    wanted: Wanted,
    /// What a backend answers, or why it does not.
    pub(super) answer: Result<Response<Bytes>, EgressError>,
}

/// What a request must be.
#[derive(Clone, Debug, PartialEq)]
struct Wanted {
    method: Method,
    url: Url,
    /// Those that must be there; others may.
    headers: Vec<(HeaderName, HeaderValue)>,
    body: Option<Value>,
}

/// A URL whose parameters have no order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Url {
    /// `https://metrics.acme.example/api/v1/query_range`
    pub(super) base: String,
    /// Decoded and sorted.
    pub(super) query: Vec<(String, String)>,
}

/// The failures that a fixture may name, and what they are to those who call.
const FAILURES: [(&str, EgressError); 6] = [
    ("refused", EgressError::Connect),
    ("reset", EgressError::Broken),
    ("truncated", EgressError::Broken),
    ("timeout", EgressError::Timeout),
    ("badTLS", EgressError::Tls(TlsFault::Issuer)),
    ("resolve", EgressError::Resolve),
];

impl Fixture {
    /// Reads a fixture.
    pub(super) fn read(fields: &Fields) -> Result<Fixture, GoldenError> {
        fields.only(&["request", "response"])?;
        let part = |name| fields.fields(name)?.ok_or_else(|| fields.wrong_here(&format!("`{name}` is missing")));
        Ok(Fixture { wanted: wanted(&part("request")?)?, answer: answer(&part("response")?)? })
    }

    /// Whether it is for a request.
    pub(super) fn fits(&self, request: &Request<Bytes>) -> bool {
        let Wanted { method, url, headers, body } = &self.wanted;
        let has =
            |(name, value): &(HeaderName, HeaderValue)| request.headers().get_all(name).iter().any(|v| v == value);
        method == request.method()
            && Some(url) == Url::parse(&request.uri().to_string()).as_ref()
            && headers.iter().all(has)
            && *body == body_of(request.body())
    }
}

impl Url {
    /// In the normal form in which calls are made.
    pub(super) fn parse(text: &str) -> Option<Url> {
        let text = Target::parse(text).ok()?.to_string();
        let (base, query) = text.split_once('?').unwrap_or((&text, ""));
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let pair = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(name), decoded(value))
        };
        let mut query: Vec<_> = query.split('&').filter(|pair| !pair.is_empty()).map(pair).collect();
        query.sort();
        Some(Url { base: base.to_owned(), query })
    }
}

/// A body as fixtures have it: JSON as what it says, all else as text; `None` where there is none.
pub(super) fn body_of(bytes: &[u8]) -> Option<Value> {
    if bytes.is_empty() {
        return None;
    }
    Some(serde_json::from_slice(bytes).unwrap_or_else(|_| Value::from(String::from_utf8_lossy(bytes).into_owned())))
}

fn wanted(fields: &Fields) -> Result<Wanted, GoldenError> {
    fields.only(&["method", "url", "query", "headers", "body"])?;
    let method = fields.text("method")?.unwrap_or_else(|| "GET".into());
    let method = method.parse().map_err(|_| fields.wrong("method", "not a method"))?;
    let text = fields.text("url")?.ok_or_else(|| fields.wrong_here("`url` is missing"))?;
    let mut url =
        Url::parse(&text).ok_or_else(|| fields.wrong("url", "not a URL; parameters are best put in `query`"))?;
    if let Some(query) = fields.fields("query")? {
        for name in query.names() {
            url.query.extend(query.printed(&name)?.into_iter().map(|value| (name.to_string(), value)));
        }
        url.query.sort();
    }
    let headers = headers(fields)?.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    Ok(Wanted { method, url, headers, body: fields.value("body").cloned() })
}

fn answer(fields: &Fields) -> Result<Result<Response<Bytes>, EgressError>, GoldenError> {
    fields.only(&["status", "headers", "body", "bodyJSON", "failure", "delaySeconds"])?;
    if let Some(failure) = fields.text("failure")? {
        if let Some(other) = fields.names().iter().find(|name| &***name != "failure") {
            return Err(fields.wrong(other, "a `failure` has nothing else"));
        }
        let Some((_, error)) = FAILURES.iter().find(|(name, _)| *name == failure) else {
            let names: Vec<&str> = FAILURES.iter().map(|(name, _)| *name).collect();
            return Err(fields.wrong("failure", &format!("there are {}", names.join(", "))));
        };
        return Ok(Err(error.clone()));
    }
    let mut headers = headers(fields)?;
    let body = match (fields.text("body")?, fields.value("bodyJSON")) {
        (Some(_), Some(_)) => return Err(fields.wrong("bodyJSON", "at most one of `body` and `bodyJSON`")),
        (Some(text), None) => Bytes::from(text),
        (None, Some(value)) => {
            headers.entry(header::CONTENT_TYPE).or_insert(HeaderValue::from_static("application/json"));
            serde_json::to_vec(value).map_err(|_| fields.wrong("bodyJSON", "not JSON"))?.into()
        }
        (None, None) => Bytes::new(),
    };
    let status = match fields.value("status") {
        None => StatusCode::OK,
        Some(Value::Int(status)) => u16::try_from(*status)
            .ok()
            .and_then(|status| StatusCode::from_u16(status).ok())
            .ok_or_else(|| fields.wrong("status", "not a status"))?,
        Some(_) => return Err(fields.wrong("status", "expected a number")),
    };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    match fields.value("delaySeconds") {
        None => {}
        Some(Value::Int(seconds @ 0..=3600)) => {
            response.extensions_mut().insert(Delay(Duration::from_secs(seconds.unsigned_abs())));
        }
        Some(_) => return Err(fields.wrong("delaySeconds", "expected a number up to 3600")),
    }
    Ok(Ok(response))
}

fn headers(fields: &Fields) -> Result<HeaderMap, GoldenError> {
    let mut headers = HeaderMap::new();
    let Some(given) = fields.fields("headers")? else { return Ok(headers) };
    for name in given.names() {
        let field: HeaderName = name.parse().map_err(|_| given.wrong(&name, "not a header field"))?;
        for value in given.printed(&name)? {
            let value = value.parse().map_err(|_| given.wrong(&name, "not the value of a header field"))?;
            headers.append(field.clone(), value);
        }
    }
    Ok(headers)
}

/// A request as a fixture has it.
pub(super) fn request_value(request: &Request<Bytes>) -> Value {
    /// What every call sends anyway.
    const USUAL: [HeaderName; 4] = [header::ACCEPT, header::USER_AGENT, header::CONTENT_TYPE, header::ACCEPT_ENCODING];
    let text = request.uri().to_string();
    let url = Url::parse(&text).unwrap_or(Url { base: text, query: vec![] });
    let mut map = Vec::new();
    if request.method() != Method::GET {
        map.push(("method", Value::from(request.method().as_str())));
    }
    map.push(("url", Value::from(url.base)));
    let mut query: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for (name, value) in url.query {
        query.entry(name).or_default().push(Value::from(value));
    }
    if !query.is_empty() {
        map.push(("query", object(query.into_iter().map(|(name, values)| (name, one_or_list(values))))));
    }
    let headers = header_values(request.headers(), |name| !USUAL.contains(name));
    map.extend(headers.map(|headers| ("headers", headers)));
    map.extend(body_of(request.body()).map(|body| ("body", body)));
    object(map.into_iter().map(|(name, value)| (name.to_owned(), value)))
}

/// An answer as a fixture has it; `None` where a fixture cannot.
pub(super) fn response_value(answer: &Result<Response<Bytes>, EgressError>) -> Option<Value> {
    /// What is about the connection, the moment or somebody's session.
    const DROPPED: [HeaderName; 12] = [
        header::CONNECTION,
        header::CONTENT_ENCODING,
        header::CONTENT_LENGTH,
        header::DATE,
        header::EXPIRES,
        header::PROXY_AUTHENTICATE,
        header::SERVER,
        header::SET_COOKIE,
        header::STRICT_TRANSPORT_SECURITY,
        header::TRANSFER_ENCODING,
        header::VIA,
        header::WWW_AUTHENTICATE,
    ];
    let response = match answer {
        Ok(response) => response,
        Err(error) => {
            // Each failure by its kind: of a certificate it is told that it is bad only.
            let same =
                |(_, known): &&(&str, EgressError)| std::mem::discriminant(known) == std::mem::discriminant(error);
            let (name, _) = FAILURES.iter().find(same)?;
            return Some(object([("failure".to_owned(), Value::from(*name))]));
        }
    };
    let json = serde_json::from_slice::<Value>(response.body()).ok().filter(|_| is_json(response.headers()));
    let mut map = vec![("status", Value::Int(response.status().as_u16().into()))];
    let kept = |name: &HeaderName| {
        !DROPPED.contains(name)
            && name.as_str() != "keep-alive"
            && (json.is_none() || *name != header::CONTENT_TYPE || !plain_json(response.headers()))
    };
    map.extend(header_values(response.headers(), kept).map(|headers| ("headers", headers)));
    match json {
        Some(json) => map.push(("bodyJSON", json)),
        None if response.body().is_empty() => {}
        None => map.push(("body", Value::from(std::str::from_utf8(response.body()).ok()?.to_owned()))),
    }
    Some(object(map.into_iter().map(|(name, value)| (name.to_owned(), value))))
}

fn is_json(headers: &HeaderMap) -> bool {
    let essence = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("json");
    essence.contains("json") && !essence.contains("ndjson") && !essence.contains("jsonl")
}

fn plain_json(headers: &HeaderMap) -> bool {
    headers.get(header::CONTENT_TYPE).is_some_and(|value| value == "application/json")
}

fn header_values(headers: &HeaderMap, kept: impl Fn(&HeaderName) -> bool) -> Option<Value> {
    let mut fields: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for (name, value) in headers.iter().filter(|(name, _)| kept(name)) {
        if let Ok(text) = value.to_str() {
            fields.entry(name.to_string()).or_default().push(Value::from(text));
        }
    }
    let map = |fields: BTreeMap<_, _>| object(fields.into_iter().map(|(name, values)| (name, one_or_list(values))));
    (!fields.is_empty()).then(|| map(fields))
}

fn one_or_list(mut values: Vec<Value>) -> Value {
    match (values.pop(), values.is_empty()) {
        (Some(only), true) => only,
        (last, _) => Value::List(values.into_iter().chain(last).collect::<Vec<_>>().into()),
    }
}

/// A map of fields in their order.
pub(super) fn object(fields: impl IntoIterator<Item = (String, Value)>) -> Value {
    let mut map = cel::value::MapBuilder::default();
    for (name, value) in fields {
        map.insert(name, value);
    }
    Value::Map(map.build())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_have_no_order() {
        let url = |text| Url::parse(text).unwrap();
        assert_eq!(url("https://A.example/x?b=2&a=1%2B"), url("https://a.example:443/x?a=1%2b&b=2"));
        assert_ne!(url("https://a.example/x?a=1&a=1"), url("https://a.example/x?a=1"));
        assert_ne!(url("https://a.example/x?a=1"), url("https://a.example/y?a=1"));
        assert_eq!(Url::parse("metrics"), None);
    }

    #[test]
    fn failures_are_printed_by_their_name() {
        for (name, error) in &FAILURES {
            let name = if *name == "truncated" { "reset" } else { name };
            let printed = response_value(&Err(error.clone())).unwrap();
            assert_eq!(printed, object([("failure".to_owned(), Value::from(name))]));
        }
        assert_eq!(response_value(&Err(EgressError::UnknownPolicy { policy: "x".into() })), None);
    }
}
