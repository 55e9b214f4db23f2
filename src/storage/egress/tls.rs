//! TLS to backends: rustls with ring, 1.2 or newer, names verified always, the policy's authorities instead of the public
//! ones where it gives some.
//!
//! Absent: client certificates (no policy has them), a switch that turns verification off.
use std::sync::Arc;

use rustls_pki_types::{CertificateDer, ServerName, pem::PemObject};
use tokio_rustls::{
    TlsConnector,
    rustls::{CertificateError, ClientConfig, Error, RootCertStore, crypto::ring},
};

use crate::storage::egress::{dial::Stream, error::TlsFault, host::Host, policy::PolicyError};

/// A connector that trusts the authorities of a PEM text, or the public ones.
pub(super) fn connector(ca_bundle: Option<&str>) -> Result<TlsConnector, PolicyError> {
    let mut roots = RootCertStore::empty();
    match ca_bundle.map(str::trim).filter(|pem| !pem.is_empty()) {
        None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
        Some(pem) => {
            for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
                let certificate = certificate.map_err(|_| PolicyError::CaBundle)?;
                roots.add(certificate).map_err(|_| PolicyError::CaBundle)?;
            }
            if roots.is_empty() {
                return Err(PolicyError::CaBundle);
            }
        }
    }
    // The safe default is TLS 1.2 and 1.3. ALPN names HTTP/1.1 only, which is what is spoken.
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|_| PolicyError::CaBundle)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsConnector::from(Arc::new(config)))
}

/// Does the handshake over a connection that was made for a host.
pub(super) async fn handshake(
    connector: &TlsConnector,
    host: &Host,
    stream: Box<dyn Stream>,
) -> Result<Box<dyn Stream>, TlsFault> {
    let name = match host {
        Host::Name(name) => ServerName::try_from(name.to_string()).map_err(|_| TlsFault::Name)?,
        Host::Address(address) => ServerName::IpAddress((*address).into()),
    };
    match connector.connect(name, stream).await {
        Ok(stream) => Ok(Box::new(stream)),
        Err(error) => Err(fault(error.get_ref().and_then(|inner| inner.downcast_ref()))),
    }
}

fn fault(error: Option<&Error>) -> TlsFault {
    match error {
        Some(Error::InvalidCertificate(error)) => match error {
            CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. } => TlsFault::Expired,
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => TlsFault::Name,
            CertificateError::UnknownIssuer => TlsFault::Issuer,
            _ => TlsFault::Certificate,
        },
        _ => TlsFault::Handshake,
    }
}
