//! The credentials of a policy on its requests.
//!
//! INVARIANT: what is made here goes into requests to targets that the policy allows, and is marked sensitive, so that no
//! library prints it. Absent: where the bytes are (secrets), how tokens are got (oauth2).
use std::sync::Arc;

use base64::{Engine, engine::general_purpose::STANDARD};
use http::{HeaderName, HeaderValue, header};
use sha2::{Digest, Sha256};

use crate::{
    api::egress_policy::{Auth, SecretRef},
    storage::egress::{error::CredentialsFault, secrets::Secrets, sensitive::Sensitive},
};

/// How requests are authenticated.
#[derive(Clone, Debug)]
pub(super) enum Scheme {
    /// `Authorization: Bearer`
    Bearer,
    /// `Authorization: Basic`
    Basic { username: String },
    /// A field of its own.
    Header { name: HeaderName },
    /// A token that is got first.
    OAuth2 { token_url: String, client_id: String, scopes: Vec<String> },
}

/// The credentials of a policy.
#[derive(Clone, Debug)]
pub(super) struct Credentials {
    pub(super) scheme: Scheme,
    reference: SecretRef,
    workspace: Arc<str>,
    secrets: Arc<dyn Secrets>,
}

/// The bytes, and what tells them from others without being them.
#[derive(Clone, Debug)]
pub(super) struct Material {
    pub(super) secret: Sensitive<String>,
    /// Answers got with one are never given to another.
    pub(super) identity: [u8; 32],
}

impl Credentials {
    /// Those of a policy of a workspace, whose form was checked before.
    pub(super) fn new(auth: &Auth, workspace: &Arc<str>, secrets: &Arc<dyn Secrets>) -> Option<Credentials> {
        let Auth { bearer, basic, header, oauth2 } = auth.clone();
        let (scheme, reference) = if let Some(bearer) = bearer {
            (Scheme::Bearer, bearer.secret_ref)
        } else if let Some(basic) = basic {
            (Scheme::Basic { username: basic.username }, basic.secret_ref)
        } else if let Some(field) = header {
            let name = HeaderName::from_bytes(field.name.as_bytes()).ok()?;
            (Scheme::Header { name }, field.secret_ref)
        } else {
            let oauth2 = oauth2?;
            let (token_url, client_id, scopes) = (oauth2.token_url, oauth2.client_id, oauth2.scopes);
            (Scheme::OAuth2 { token_url, client_id, scopes }, oauth2.secret_ref)
        };
        Some(Credentials { scheme, reference, workspace: Arc::clone(workspace), secrets: Arc::clone(secrets) })
    }

    /// The field that they are sent in.
    pub(super) fn field(&self) -> &HeaderName {
        match &self.scheme {
            Scheme::Header { name } => name,
            Scheme::Bearer | Scheme::Basic { .. } | Scheme::OAuth2 { .. } => &header::AUTHORIZATION,
        }
    }

    /// The bytes as they are now: Secrets are rotated.
    pub(super) async fn material(&self) -> Result<Material, CredentialsFault> {
        let bytes = self.secrets.secret(&self.workspace, &self.reference).await?;
        let text = std::str::from_utf8(bytes.expose()).map_err(|_| CredentialsFault::Unfit)?;
        // Files and `kubectl create secret --from-file` end in a newline that nobody means.
        let text = text.trim_end_matches(['\r', '\n']);
        let identity = Sha256::digest([self.field().as_str().as_bytes(), b"\0", text.as_bytes()].concat()).into();
        Ok(Material { secret: Sensitive::new(text.to_owned()), identity })
    }

    /// The field's value without a token of OAuth 2.0: what the Secret gives by itself.
    pub(super) fn value(&self, material: &Material) -> Result<HeaderValue, CredentialsFault> {
        let secret = material.secret.expose();
        match &self.scheme {
            Scheme::Bearer => bearer(secret),
            Scheme::Header { .. } => sensitive(secret),
            Scheme::Basic { username } => basic(username, secret),
            Scheme::OAuth2 { .. } => Err(CredentialsFault::Token),
        }
    }
}

/// `Bearer <token>`
pub(super) fn bearer(token: &str) -> Result<HeaderValue, CredentialsFault> {
    // RFC 6750, section 2.1: no spaces or controls.
    let plain = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    if plain { sensitive(&format!("Bearer {token}")) } else { Err(CredentialsFault::Unfit) }
}

/// `Basic <username:password>`
pub(super) fn basic(username: &str, password: &str) -> Result<HeaderValue, CredentialsFault> {
    // RFC 7617, section 2: the first colon ends the name.
    if username.contains(':') {
        return Err(CredentialsFault::Unfit);
    }
    sensitive(&format!("Basic {}", STANDARD.encode(format!("{username}:{password}"))))
}

fn sensitive(text: &str) -> Result<HeaderValue, CredentialsFault> {
    let mut value = HeaderValue::from_str(text).map_err(|_| CredentialsFault::Unfit)?;
    if value.is_empty() {
        return Err(CredentialsFault::Unfit);
    }
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_made_and_never_printed() {
        let token = bearer("hunter2").unwrap();
        let name = basic("jane", "hunter2").unwrap();
        assert_eq!((token.as_bytes(), name.as_bytes()), (&b"Bearer hunter2"[..], &b"Basic amFuZTpodW50ZXIy"[..]));
        let printed = format!("{token:?} {name:?} {:?}", http::HeaderMap::from_iter([(header::COOKIE, token.clone())]));
        assert!(!printed.contains("hunter2") && !printed.contains("amFuZT"), "{printed}");
        for text in ["", "a b", "a\nb", "ü"] {
            assert_eq!(bearer(text), Err(CredentialsFault::Unfit), "{text:?}");
        }
        assert_eq!(basic("a:b", "c"), Err(CredentialsFault::Unfit));
        assert_eq!(sensitive("a\r\nHost: b"), Err(CredentialsFault::Unfit));
    }
}
