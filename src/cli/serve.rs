//! `celandine serve`: a directory, served to kubectl until it is stopped.
//!
//! Absent: the protocol (server), reading directories (storage).
use std::{fmt::Write as _, net::SocketAddr, path::PathBuf, sync::Arc};

use super::{CliError, chain, load, print};
use crate::{
    server::{self, Config, Limits, TlsFiles},
    storage::{
        directory::{Directory, Reloader, Report},
        workspace::ROOT,
    },
};

const EXAMPLES: &str = "\
Examples:
  # Serve, then ask from another terminal
  celandine serve --dir examples
  kubectl --server http://127.0.0.1:8001 create -f examples/requests/bucketinfo.yaml -o yaml

  # HTTPS on another port
  celandine serve --dir examples --listen 127.0.0.1:8443 --tls-cert tls.crt --tls-key tls.key";

/// The arguments of `celandine serve`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Directory of schemas and objects; changes are noticed
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,
    /// Loopback address and port; port 0 takes any free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8001")]
    listen: SocketAddr,
    /// Certificate chain in PEM; HTTPS instead of HTTP
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Its private key in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
}

/// Serves until interrupted.
pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let (directory, report) = load::load(&args.dir)?;
    load::findings(&report);
    // A thread more than may compute: it is left for sockets and probes.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(Limits::default().computing + 1)
        .enable_all()
        .build()
        .map_err(|error| CliError::Message(format!("cannot start a runtime: {error}")))?;
    runtime.block_on(serve(args, directory, &report))
}

async fn serve(args: &Args, directory: Directory, report: &Report) -> Result<(), CliError> {
    let workspaces = Arc::clone(directory.workspaces());
    let fail = |error: &dyn std::error::Error| CliError::Message(chain(error));
    let reloader = Reloader::start(directory).map_err(|error| fail(&error))?;
    let tls = match (&args.tls_cert, &args.tls_key) {
        (Some(cert), Some(key)) => Some(TlsFiles { cert: cert.clone(), key: key.clone() }),
        _ => None,
    };
    let config = Config { listen: args.listen, tls, limits: Limits::default() };
    let server = server::bind(config, workspaces).await.map_err(|error| fail(&error))?;
    print::stdout(welcome(report, &server.url(), args).as_bytes());
    tokio::select! {
        () = server.run(interrupted()) => {}
        () = report_changes(&reloader, report) => {}
    }
    Ok(())
}

/// What is served, and what to try.
fn welcome(report: &Report, url: &str, args: &Args) -> String {
    let mut text = format!("serving {} at {url}\n", args.dir.display());
    for workspace in &report.workspaces {
        let prefix = if *workspace.path == *ROOT { String::new() } else { format!("/clusters/{}", workspace.path) };
        let _ = writeln!(text, "\nworkspace {} ({} objects) at {url}{prefix}", workspace.path, workspace.objects);
        for kind in &workspace.ephemeral {
            let _ = writeln!(text, "  {kind}");
        }
    }
    let secure = if args.tls_cert.is_some() { " --certificate-authority ..." } else { "" };
    let requests = args.dir.join("requests");
    let file = if requests.is_dir() { requests.join("bucketinfo.yaml") } else { "request.yaml".into() };
    let file = if file.exists() { file.display().to_string() } else { "request.yaml".into() };
    let _ = writeln!(text, "\ntry:  kubectl --server {url}{secure} create -f {file} -o yaml");
    text
}

/// Prints what is found when files change, for ever. Watching begins with a load, which is no news if it found the same.
async fn report_changes(reloader: &Reloader, loaded: &Report) {
    let mut reports = reloader.reports();
    let mut first = true;
    while reports.changed().await.is_ok() {
        let report = Arc::clone(&reports.borrow_and_update());
        let same = report.workspaces == loaded.workspaces && report.findings.len() == loaded.findings.len();
        if !(first && same) {
            let kinds: usize = report.workspaces.iter().map(|workspace| workspace.ephemeral.len()).sum();
            print::error_line(&format!("reloaded: {kinds} ephemeral kinds in {} workspaces", report.workspaces.len()));
            load::findings(&report);
        }
        first = false;
    }
    std::future::pending().await
}

/// Resolves at Ctrl-C, or when the process is asked to end.
async fn interrupted() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}
