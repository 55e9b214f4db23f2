//! The server's certificate: read from PEM files, watched for changes, served by rustls with ring.
//!
//! Absent: client certificates (callers are not authenticated yet).
use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use arc_swap::ArcSwap;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};
use sha2::{Digest, Sha256};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        crypto::ring,
        server::{ClientHello, ResolvesServerCert},
        sign::CertifiedKey,
    },
};

use crate::server::config::TlsFiles;

/// How often the files are looked at: kubelet rewrites mounted secrets about once a minute.
const RELOAD_INTERVAL: Duration = Duration::from_secs(20);

/// Why there is no certificate.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// Not readable.
    #[error("the {what} file `{}` could not be read: check that it exists and that this user may read it", path.display())]
    Read {
        /// `certificate` or `key`
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// No PEM of a certificate.
    #[error(
        "`{}` holds no PEM certificate: give --tls-cert a file with `-----BEGIN CERTIFICATE-----`, \
         the server's own first, then its intermediates",
        path.display()
    )]
    NoCertificate {
        /// The file.
        path: PathBuf,
    },
    /// No PEM of a key.
    #[error(
        "`{}` holds no PEM private key: give --tls-key an unencrypted file with `-----BEGIN PRIVATE KEY-----` \
         (PKCS #8, PKCS #1 or SEC 1); decrypt one by `openssl pkey -in FILE -out NEW`",
        path.display()
    )]
    NoKey {
        /// The file.
        path: PathBuf,
    },
    /// The key is of no use.
    #[error("the key in `{}` cannot sign: use RSA of 2048 bits or more, ECDSA P-256 or P-384, or Ed25519", path.display())]
    Key {
        /// The file.
        path: PathBuf,
        /// Why.
        source: tokio_rustls::rustls::Error,
    },
    /// The two belong to different pairs.
    #[error("the key in `{}` does not belong to the first certificate in `{}`", key.display(), cert.display())]
    Mismatch {
        /// The certificate's file.
        cert: PathBuf,
        /// The key's file.
        key: PathBuf,
        /// Why.
        source: tokio_rustls::rustls::Error,
    },
    /// rustls refuses its configuration.
    #[error("TLS could not be set up")]
    Setup(#[source] tokio_rustls::rustls::Error),
}

#[derive(Debug)]
struct Current(ArcSwap<CertifiedKey>);

impl ResolvesServerCert for Current {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.load_full())
    }
}

/// An acceptor serving the certificate of the files, and a future that keeps it current and never ends.
pub fn acceptor(files: TlsFiles) -> Result<(TlsAcceptor, impl Future<Output = ()> + Send + 'static), TlsError> {
    let (pair, digest) = load(&files)?;
    let current = Arc::new(Current(ArcSwap::from_pointee(pair)));
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(TlsError::Setup)?
        .with_no_client_auth()
        .with_cert_resolver(Arc::clone(&current) as Arc<dyn ResolvesServerCert>);
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok((TlsAcceptor::from(Arc::new(config)), reload(files, current, digest)))
}

async fn reload(files: TlsFiles, current: Arc<Current>, mut served: [u8; 32]) {
    let mut failed = None;
    loop {
        tokio::time::sleep(RELOAD_INTERVAL).await;
        match load(&files) {
            Ok((pair, digest)) if digest != served => {
                current.0.store(Arc::new(pair));
                served = digest;
                failed = None;
                tracing::info!(cert = %files.cert.display(), "the certificate was replaced");
            }
            Ok(_) => failed = None,
            // Files are replaced one after the other: say it once, keep serving the last good pair.
            Err(error) => {
                let text = error.to_string();
                if failed.as_ref() != Some(&text) {
                    tracing::warn!(%error, "the changed certificate is not used; the previous one is still served");
                    failed = Some(text);
                }
            }
        }
    }
}

fn load(files: &TlsFiles) -> Result<(CertifiedKey, [u8; 32]), TlsError> {
    let cert_pem = read("certificate", &files.cert)?;
    let key_pem = read("key", &files.key)?;
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&cert_pem).collect();
    let chain = chain.ok().filter(|c| !c.is_empty());
    let chain = chain.ok_or_else(|| TlsError::NoCertificate { path: files.cert.clone() })?;
    let key = PrivateKeyDer::from_pem_slice(&key_pem).map_err(|_| TlsError::NoKey { path: files.key.clone() })?;
    let key =
        ring::sign::any_supported_type(&key).map_err(|source| TlsError::Key { path: files.key.clone(), source })?;
    let pair = CertifiedKey::new(chain, key);
    pair.keys_match().map_err(|source| TlsError::Mismatch {
        cert: files.cert.clone(),
        key: files.key.clone(),
        source,
    })?;
    let digest = Sha256::new().chain_update(&cert_pem).chain_update(&key_pem).finalize();
    Ok((pair, digest.into()))
}

fn read(what: &'static str, path: &Path) -> Result<Vec<u8>, TlsError> {
    std::fs::read(path).map_err(|source| TlsError::Read { what, path: path.to_owned(), source })
}
