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
/// Kubernetes swaps a symbolic link when a mounted Secret changes: a file is whole, old or new.
#[derive(Clone, Debug)]
pub struct FileSecrets(pub PathBuf);

impl Secrets for FileSecrets {
    fn secret(
        &self,
        _workspace: &str,
        reference: &SecretRef,
    ) -> BoxFuture<'static, Result<Sensitive<Vec<u8>>, CredentialsFault>> {
        let parts = [&reference.namespace, &reference.name, &reference.key];
        let path = parts.iter().all(|part| is_part(part)).then(|| self.0.join(parts[0]).join(parts[1]).join(parts[2]));
        Box::pin(async move {
            let path = path.ok_or(CredentialsFault::Missing)?;
            let read = tokio::task::spawn_blocking(move || {
                // A pipe or a device could be waited for without end.
                if !std::fs::metadata(&path)?.is_file() {
                    return Err(std::io::ErrorKind::InvalidInput.into());
                }
                let mut bytes = vec![];
                std::fs::File::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
                Ok::<_, std::io::Error>(bytes)
            });
            match read.await {
                Ok(Ok(bytes)) if u64::try_from(bytes.len()).is_ok_and(|length| length > MOST_BYTES) => {
                    Err(CredentialsFault::Unfit)
                }
                Ok(Ok(bytes)) => Ok(Sensitive::new(bytes)),
                Ok(Err(error)) if error.kind() == std::io::ErrorKind::NotFound => Err(CredentialsFault::Missing),
                Ok(Err(_)) | Err(_) => Err(CredentialsFault::Unreadable),
            }
        })
    }
}

/// Whether a Secret can have this namespace, name or key: what Kubernetes allows of characters, and no way to another folder.
pub(super) fn is_part(part: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    !matches!(part, "" | "." | "..") && part.bytes().all(plain)
}

/// No Secrets at all.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSecrets;

impl Secrets for NoSecrets {
    fn secret(&self, _: &str, _: &SecretRef) -> BoxFuture<'static, Result<Sensitive<Vec<u8>>, CredentialsFault>> {
        Box::pin(std::future::ready(Err(CredentialsFault::Missing)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::{
        authorizer::Authorizer,
        objects::{Incoming, Objects},
        workspace::Workspace,
    };

    fn reference(namespace: &str, name: &str, key: &str) -> SecretRef {
        SecretRef { namespace: namespace.into(), name: name.into(), key: key.into() }
    }

    #[tokio::test]
    async fn files_are_read_below_their_folder_only() {
        let folder = tempfile::tempdir().unwrap();
        let secret = folder.path().join("secrets/platform/metrics");
        std::fs::create_dir_all(&secret).unwrap();
        std::fs::write(secret.join("token"), "hunter2\n").unwrap();
        std::fs::write(folder.path().join("outside"), "no").unwrap();
        let secrets = FileSecrets(folder.path().join("secrets"));
        let read = async |namespace: &str, name: &str, key: &str| {
            let found = secrets.secret("root", &reference(namespace, name, key)).await;
            found.map(|bytes| bytes.expose().clone())
        };
        assert_eq!(read("platform", "metrics", "token").await, Ok(b"hunter2\n".to_vec()));
        for (namespace, name, key) in [
            ("platform", "metrics", "other"),
            ("..", ".", "outside"),
            ("platform", "..", "../outside"),
            ("platform", "metrics", "../../../outside"),
            ("", "", "outside"),
        ] {
            assert_eq!(read(namespace, name, key).await, Err(CredentialsFault::Missing), "{namespace}/{name}/{key}");
        }
        assert_eq!(read("platform", "metrics", ".").await, Err(CredentialsFault::Missing));
        assert_eq!(read("platform", "metrics", "").await, Err(CredentialsFault::Missing));
        std::fs::create_dir(secret.join("folder")).unwrap();
        assert_eq!(read("platform", "metrics", "folder").await, Err(CredentialsFault::Unreadable));
        let most = usize::try_from(MOST_BYTES).unwrap();
        std::fs::write(secret.join("long"), "x".repeat(most)).unwrap();
        assert_eq!(read("platform", "metrics", "long").await.map(|bytes| bytes.len()), Ok(most));
        std::fs::write(secret.join("long"), "x".repeat(most + 1)).unwrap();
        assert_eq!(read("platform", "metrics", "long").await, Err(CredentialsFault::Unfit));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn secrets_are_rotated_as_kubernetes_does_it() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let secret = folder.path().join("platform/metrics");
        for (version, text) in [("..1", "old"), ("..2", "new")] {
            std::fs::create_dir_all(secret.join(version)).unwrap();
            std::fs::write(secret.join(version).join("token"), text).unwrap();
        }
        symlink("..1", secret.join("..data")).unwrap();
        symlink("..data/token", secret.join("token")).unwrap();
        let secrets = FileSecrets(folder.path().to_owned());
        let read = async || {
            let found = secrets.secret("root", &reference("platform", "metrics", "token")).await;
            found.map(|bytes| bytes.expose().clone())
        };
        assert_eq!(read().await, Ok(b"old".to_vec()));
        symlink("..2", secret.join("..data_tmp")).unwrap();
        std::fs::rename(secret.join("..data_tmp"), secret.join("..data")).unwrap();
        assert_eq!(read().await, Ok(b"new".to_vec()));
    }

    #[tokio::test]
    async fn objects_are_those_of_the_workspace_of_the_policy() {
        let workspaces = Arc::new(Workspaces::default());
        for (path, text) in [("root:a", "b25l"), ("root:b", "dHdv")] {
            let objects = Arc::new(Objects::new(0));
            let json = format!(
                r#"{{"apiVersion": "v1", "kind": "Secret", "data": {{"k": "{text}", "bad": "?"}}, "stringData": {{"s": "x"}}}}"#
            );
            objects.apply(Incoming {
                kind: GroupVersionKind::new("", "v1", "Secret"),
                namespace: "platform".into(),
                name: "metrics".into(),
                value: serde_json::from_str(&json).unwrap(),
                schema: None,
                arrived: "2026-01-01T00:00:00Z".into(),
            });
            workspaces.insert(Arc::new(Workspace::new(path, objects, Authorizer::AlwaysAllow)));
        }
        let secrets = ObjectSecrets(workspaces);
        let read = async |workspace: &str, key: &str| {
            let found = secrets.secret(workspace, &reference("platform", "metrics", key)).await;
            found.map(|bytes| String::from_utf8(bytes.expose().clone()).unwrap())
        };
        assert_eq!(read("root:a", "k").await, Ok("one".into()));
        assert_eq!(read("root:b", "k").await, Ok("two".into()));
        assert_eq!(read("root:b", "s").await, Ok("x".into()));
        assert_eq!(read("root:b", "bad").await, Err(CredentialsFault::Unreadable));
        assert_eq!(read("root:b", "other").await, Err(CredentialsFault::Missing));
        assert_eq!(read("root:c", "k").await, Err(CredentialsFault::Missing));
    }
}
