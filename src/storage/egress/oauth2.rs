//! Tokens by OAuth 2.0 client credentials (RFC 6749, section 4.4): got once, kept until shortly before they expire.
//!
//! Absent: which token endpoints are allowed (policy), sending (handed in).
use std::time::Duration;

use bytes::Bytes;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use tokio::{sync::Mutex, time::Instant};

use crate::storage::egress::{auth, error::CredentialsFault, sensitive::Sensitive};

/// The longest answer of a token endpoint.
pub(super) const MOST_BYTES: usize = 64 * 1024;

/// For how long a token is used that does not say when it expires.
const UNKNOWN_LIFE: Duration = Duration::from_secs(60);

/// So long before its end a token is no longer used, or after half its life if that is shorter: clocks differ, and requests
/// take time.
const MARGIN: Duration = Duration::from_secs(30);

/// `application/x-www-form-urlencoded`, without the `+` for spaces that servers read in both forms.
const FORM: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'*');

/// The token of one policy. Whoever needs one waits for whoever gets it.
#[derive(Debug, Default)]
pub(super) struct Tokens(Mutex<Option<Token>>);

#[derive(Clone, Debug)]
struct Token {
    value: Sensitive<String>,
    /// With which credentials it was got.
    identity: [u8; 32],
    until: Instant,
}

impl Tokens {
    /// The token, got by `fetch` if there is none. `refused` is one that the backend no longer took.
    pub(super) async fn get<F>(
        &self,
        identity: [u8; 32],
        refused: Option<&Sensitive<String>>,
        fetch: impl FnOnce() -> F,
    ) -> Result<Sensitive<String>, CredentialsFault>
    where
        F: Future<Output = Result<Bytes, CredentialsFault>>,
    {
        // Held while a token is got, so that one is got at a time; whoever is cancelled makes room for the next.
        let mut held = self.0.lock().await;
        let usable = |token: &&Token| {
            token.identity == identity && Instant::now() < token.until && Some(&token.value) != refused
        };
        if let Some(token) = held.as_ref().filter(usable) {
            return Ok(token.value.clone());
        }
        *held = None;
        let token = read(&fetch().await?, identity)?;
        let value = token.value.clone();
        *held = Some(token);
        Ok(value)
    }
}

#[derive(serde::Deserialize)]
struct Response {
    access_token: String,
    token_type: String,
    #[serde(default)]
    expires_in: Option<serde_json::Value>,
}

fn read(body: &[u8], identity: [u8; 32]) -> Result<Token, CredentialsFault> {
    let response: Response = serde_json::from_slice(body).map_err(|_| CredentialsFault::Token)?;
    // One that cannot be sent is none: it is not kept, and the Secret is not blamed.
    if !response.token_type.eq_ignore_ascii_case("bearer") || auth::bearer(&response.access_token).is_err() {
        return Err(CredentialsFault::Token);
    }
    // A number (RFC 6749, section 5.1); some servers send it as text.
    let seconds = response.expires_in.and_then(|value| value.as_u64().or_else(|| value.as_str()?.parse().ok()));
    // A day is as long as anyone should trust one.
    let life = seconds.map_or(UNKNOWN_LIFE, |seconds| Duration::from_secs(seconds.min(86_400)));
    let value = Sensitive::new(response.access_token);
    Ok(Token { value, identity, until: Instant::now() + life - MARGIN.min(life / 2) })
}

/// The body of a token request.
pub(super) fn form(scopes: &[String]) -> String {
    let mut form = String::from("grant_type=client_credentials");
    if !scopes.is_empty() {
        form.push_str(&format!("&scope={}", encoded(&scopes.join(" "))));
    }
    form
}

/// A text as it stands in a form; the client's name and secret are encoded so before they become Basic credentials (RFC 6749,
/// section 2.3.1).
pub(super) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, FORM).to_string()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_token_is_got_once_until_it_is_near_its_end_or_refused() {
        let tokens = Tokens::default();
        let got = Cell::new(0);
        let fetch = || async {
            got.set(got.get() + 1);
            let text = format!(r#"{{"access_token": "t{}", "token_type": "Bearer", "expires_in": 100}}"#, got.get());
            Ok(Bytes::from(text))
        };
        let (one, two) = tokio::join!(tokens.get([1; 32], None, fetch), tokens.get([1; 32], None, fetch));
        assert_eq!((one.as_ref().unwrap().expose().as_str(), got.get()), ("t1", 1));
        assert_eq!(one, two);
        let again = tokens.get([1; 32], one.as_ref().ok(), fetch).await.unwrap();
        assert_eq!(again.expose(), "t2");
        // The one that is refused is not the one that is held any more.
        assert_eq!(tokens.get([1; 32], one.as_ref().ok(), fetch).await, Ok(again));
        tokio::time::advance(Duration::from_secs(69)).await;
        tokens.get([1; 32], None, fetch).await.unwrap();
        assert_eq!(got.get(), 2);
        tokio::time::advance(Duration::from_secs(1)).await;
        tokens.get([1; 32], None, fetch).await.unwrap();
        tokens.get([2; 32], None, fetch).await.unwrap();
        assert_eq!(got.get(), 4);
    }

    #[tokio::test]
    async fn what_is_no_token_is_an_error() {
        for body in [
            "",
            "{}",
            r#"{"access_token": "a", "token_type": "mac"}"#,
            r#"{"access_token": "", "token_type": "Bearer"}"#,
            r#"{"access_token": "a\r\nHost: b", "token_type": "Bearer"}"#,
            r#"{"error": "invalid_client"}"#,
        ] {
            assert_eq!(read(body.as_bytes(), [0; 32]).err(), Some(CredentialsFault::Token), "{body}");
        }
        assert_eq!(form(&["a b".into(), "c&d".into()]), "grant_type=client_credentials&scope=a%20b%20c%26d");
    }
}
