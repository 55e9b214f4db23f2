//! Where the bytes of credentials come from.
//!
//! Absent: how they are sent (auth).
use std::{fmt, io::Read, path::PathBuf, sync::Arc};

use base64::{Engine, engine::general_purpose::STANDARD};
use futures_util::future::BoxFuture;

use crate::{
    api::egress_policy::SecretRef,
    storage::{
        egress::{error::CredentialsFault, sensitive::Sensitive},
        objects::{GroupVersionKind, Object},
        workspace::Workspaces,
    },
};

/// The longest credential: what servers take as a header field.
const MOST_BYTES: u64 = 16 * 1024;

/// Gives the bytes of Secrets.
pub trait Secrets: fmt::Debug + Send + Sync {
    /// A key of a Secret of the workspace in which the policy is.
    fn secret(
        &self,
        workspace: &str,
        reference: &SecretRef,
    ) -> BoxFuture<'static, Result<Sensitive<Vec<u8>>, CredentialsFault>>;
}

/// Secret objects of the policy's own workspace.
#[derive(Clone, Debug)]
pub struct ObjectSecrets(pub Arc<Workspaces>);

impl Secrets for ObjectSecrets {
    fn secret(
        &self,
        workspace: &str,
        reference: &SecretRef,
    ) -> BoxFuture<'static, Result<Sensitive<Vec<u8>>, CredentialsFault>> {
        let kind = GroupVersionKind::new("", "v1", "Secret");
        let objects = self.0.get(workspace).map(|workspace| Arc::clone(workspace.objects()));
        let object = objects.and_then(|objects| objects.get(&kind, &reference.namespace, &reference.name));
        let found = object.ok_or(CredentialsFault::Missing).and_then(|object| key_of(&object, &reference.key));
        Box::pin(std::future::ready(found))
    }
}

fn key_of(object: &Object, key: &str) -> Result<Sensitive<Vec<u8>>, CredentialsFault> {
    let object: serde_json::Value = serde_json::to_value(object.typed()).map_err(|_| CredentialsFault::Unreadable)?;
    let field = |name: &str| object.get(name)?.get(key)?.as_str();
    // `stringData` wins over `data`, as kube-apiserver has it; directories of YAML hold what was never sent to one.
    if let Some(text) = field("stringData") {
        return Ok(Sensitive::new(text.as_bytes().to_vec()));
    }
    let data = field("data").ok_or(CredentialsFault::Missing)?;
    STANDARD.decode(data).map(Sensitive::new).map_err(|_| CredentialsFault::Unreadable)
}

/// Files `<folder>/<namespace>/<name>/<key>`, as mounted Secrets are; read at every use, so that they may be rotated.
#[derive(Clone, Debug)]
pub struct FileSecrets(pub PathBuf);

impl Secrets for FileSecrets {
    fn secret(
        &self,
        _workspace: &str,
        reference: &SecretRef,
    ) -> BoxFuture<'static, Result<Sensitive<Vec<u8>>, CredentialsFault>> {
        let parts = [&reference.namespace, &reference.name, &reference.key];
        let plain = |part: &&String| !part.is_empty() && !part.starts_with('.') && !part.contains(['/', '\\', '\0']);
        let path = parts.iter().all(plain).then(|| self.0.join(parts[0]).join(parts[1]).join(parts[2]));
        Box::pin(async move {
            let path = path.ok_or(CredentialsFault::Missing)?;
            let read = tokio::task::spawn_blocking(move || {
                let mut bytes = vec![];
                std::fs::File::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
                Ok::<_, std::io::Error>(bytes)
            });
            match read.await {
                Ok(Ok(bytes)) => Ok(Sensitive::new(bytes)),
                Ok(Err(error)) if error.kind() == std::io::ErrorKind::NotFound => Err(CredentialsFault::Missing),
                Ok(Err(_)) | Err(_) => Err(CredentialsFault::Unreadable),
            }
        })
    }
}

/// No Secrets at all.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSecrets;

impl Secrets for NoSecrets {
    fn secret(&self, _: &str, _: &SecretRef) -> BoxFuture<'static, Result<Sensitive<Vec<u8>>, CredentialsFault>> {
        Box::pin(std::future::ready(Err(CredentialsFault::Missing)))
    }
}
