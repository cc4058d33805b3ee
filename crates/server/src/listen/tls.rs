//! The operator's certificate, read again when its files change.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::SystemTime;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig};

use crate::ServerError;
use crate::config::TlsSettings;

/// Length and time of change of both files.
type Stamps = [Option<(u64, SystemTime)>; 2];

/// What connections are encrypted with.
pub struct Tls {
    settings: TlsSettings,
    current: RwLock<Arc<ServerConfig>>,
    read: Mutex<Stamps>,
}

impl Tls {
    /// Reads the files.
    pub fn open(settings: &TlsSettings) -> Result<Self, ServerError> {
        let read = Mutex::new(stamps(settings));
        let current = RwLock::new(Arc::new(read_files(settings)?));
        Ok(Self { settings: settings.clone(), current, read })
    }

    /// What the next connection is encrypted with.
    pub fn acceptor(&self) -> TlsAcceptor {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone().into()
    }

    /// Reads the files again if they have changed. Those that do not fit each other are left for the next time, and the certificate
    /// that was there stays: whoever replaces both does so one after the other.
    pub fn refresh(&self) {
        let found = stamps(&self.settings);
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if *read == found {
            return;
        }
        match read_files(&self.settings) {
            Ok(config) => {
                *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(config);
                *read = found;
                tracing::info!("the certificate was read again");
            }
            Err(error) => tracing::warn!(%error, "the certificate stays as it was"),
        }
    }
}

fn stamps(settings: &TlsSettings) -> Stamps {
    [&settings.certificate, &settings.key].map(|path| {
        let found = std::fs::metadata(path).ok()?;
        Some((found.len(), found.modified().ok()?))
    })
}

fn read_files(settings: &TlsSettings) -> Result<ServerConfig, ServerError> {
    let refuse = |field, path: &Path, reason: &dyn std::fmt::Display| ServerError::Setting {
        field,
        reason: format!("{}: {reason}", path.display()),
    };
    let TlsSettings { certificate, key } = settings;
    let chain = CertificateDer::pem_file_iter(certificate).and_then(|read| read.collect());
    let chain: Vec<CertificateDer<'static>> =
        chain.map_err(|error| refuse("tls.certificate", certificate, &error))?;
    if chain.is_empty() {
        return Err(refuse("tls.certificate", certificate, &"holds no certificate (PEM)"));
    }
    let secret = PrivateKeyDer::from_pem_file(key);
    let secret = secret.map_err(|error| refuse("tls.key", key, &error))?;
    let fitting = |error: rustls::Error| refuse("tls.key", key, &error);
    let builder = ServerConfig::builder_with_provider(Arc::new(default_provider()));
    let builder = builder.with_safe_default_protocol_versions().map_err(fitting)?;
    let mut config =
        builder.with_no_client_auth().with_single_cert(chain, secret).map_err(fitting)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}
