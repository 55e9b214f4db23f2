//! `celandine serve`: a directory, served to kubectl until it is stopped.
//!
//! Absent: the protocol (server), reading directories (storage), its flags (flags).
mod flags;
mod log;

use std::{fmt::Write as _, slice, sync::Arc};

pub(crate) use self::flags::Args;
use super::{CliError, chain, load, print};
use crate::{
    server::{self, Config, TlsFiles},
    storage::{
        directory::{Directory, Reloader, Report},
        workspace::ROOT,
    },
};

/// Serves until interrupted.
pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    log::begin(&args.log_level)?;
    let outside = args.outside()?;
    let (directory, report) =
        Directory::with(slice::from_ref(&args.dir), outside).map_err(|error| CliError::Message(chain(&error)))?;
    load::findings(&report);
    // A thread for each processor: what takes long is done on others.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::Message(format!("cannot start a runtime: {error}")))?;
    let served = runtime.block_on(serve(args, directory, &report));
    // A look-up of a name that hangs cannot be ended, and is not waited for.
    runtime.shutdown_background();
    served
}

async fn serve(args: &Args, directory: Directory, report: &Report) -> Result<(), CliError> {
    let workspaces = Arc::clone(directory.workspaces());
    let fail = |error: &dyn std::error::Error| CliError::Message(chain(error));
    let reloader = Reloader::start(directory).map_err(|error| fail(&error))?;
    let tls = match (&args.tls_cert, &args.tls_key) {
        (Some(cert), Some(key)) => Some(TlsFiles { cert: cert.clone(), key: key.clone() }),
        _ => None,
    };
    let config = Config { listen: args.listen, tls, limits: args.limits() };
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
