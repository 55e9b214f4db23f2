//! `celandine serve` as a process, and what it uses: processor time and memory, by `/proc`.
//!
//! Absent: what is asked of it.
use std::{
    fs,
    io::{BufRead as _, BufReader},
    net::SocketAddr,
    ops::Sub,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
};

use rustls::{ClientConfig, RootCertStore, pki_types::CertificateDer};

/// The server as it is released: `CELANDINE_SERVER`, or what cargo builds; it does nothing if that is there.
pub fn binary() -> PathBuf {
    if let Some(binary) = std::env::var_os("CELANDINE_SERVER") {
        return binary.into();
    }
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--release", "--package", "celandine", "--bin", "celandine"]);
    build.current_dir(env!("CARGO_MANIFEST_DIR"));
    // What cargo tells this benchmark of itself would make build scripts run again.
    for (name, _) in
        std::env::vars().filter(|(name, _)| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_"))
    {
        build.env_remove(name);
    }
    assert!(build.status().unwrap().success(), "the server was not built");
    // This benchmark is `<target>/release/deps/load-<hash>`.
    std::env::current_exe().unwrap().ancestors().nth(2).unwrap().join("celandine")
}

/// A server under load; dropping it ends it.
pub struct Server {
    child: Child,
    address: SocketAddr,
    certificate: CertificateDer<'static>,
    _files: tempfile::TempDir,
}

impl Server {
    /// Serves a directory over TLS on a free port of loopback.
    pub fn start(binary: &Path, folder: &Path) -> Server {
        let files = tempfile::tempdir().unwrap();
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        let (cert, key) = (files.path().join("tls.crt"), files.path().join("tls.key"));
        fs::write(&cert, made.cert.pem()).unwrap();
        fs::write(&key, made.signing_key.serialize_pem()).unwrap();
        let mut child = Command::new(binary)
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args([Path::new("--dir"), folder, Path::new("--tls-cert"), &cert, Path::new("--tls-key"), &key])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().rsplit_once("https://").unwrap_or_else(|| panic!("no address: {line:?}")).1;
        Server { child, address: address.parse().unwrap(), certificate: made.cert.der().clone(), _files: files }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// TLS that believes in this server, and speaks a protocol.
    pub fn tls(&self, protocol: &[u8]) -> Arc<ClientConfig> {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![protocol.to_vec()];
        Arc::new(config)
    }

    /// Resident memory now, in MB.
    pub fn resident(&self) -> f64 {
        self.status("VmRSS:")
    }

    /// The most resident memory that it ever had, in MB.
    pub fn peak(&self) -> f64 {
        self.status("VmHWM:")
    }

    fn status(&self, field: &str) -> f64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
        line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() * 1024.0 / 1e6
    }

    /// Processor time so far.
    pub fn cpu(&self) -> Cpu {
        Cpu::read(&format!("/proc/{}/stat", self.child.id()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Processor time of a process or a thread, the kernel's part included.
#[derive(Clone, Copy)]
pub struct Cpu {
    ticks: u64,
}

impl Cpu {
    pub fn of_this_thread() -> Cpu {
        Cpu::read("/proc/thread-self/stat")
    }

    fn read(file: &str) -> Cpu {
        let stat = fs::read_to_string(file).unwrap();
        // The name, in parentheses, may hold anything; utime and stime are fields 14 and 15.
        let fields: Vec<_> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        Cpu { ticks: fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap() }
    }

    /// Linux tells it in hundredths of a second (`USER_HZ`).
    pub fn seconds(self) -> f64 {
        self.ticks as f64 / 100.0
    }
}

impl Sub for Cpu {
    type Output = Cpu;

    fn sub(self, before: Cpu) -> Cpu {
        Cpu { ticks: self.ticks - before.ticks }
    }
}
