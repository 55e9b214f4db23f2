//! The flags of `celandine serve`: kube-apiserver's names where it has them.
//!
//! Absent: what the bounds are for (server's and storage's configuration say it).
use std::{
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use crate::{
    cli::CliError,
    server::{Limits, query::go_duration},
    storage::directory::Outside,
};

/// What `--help` says at the end.
const EXAMPLES: &str = "\
Examples:
  # Serve, then ask from another terminal
  celandine serve --dir examples
  kubectl --server http://127.0.0.1:8001 create -f examples/requests/bucketinfo.yaml -o yaml

  # HTTPS on another port
  celandine serve --dir examples --listen 127.0.0.1:8443 --tls-cert tls.crt --tls-key tls.key

  # Credentials of egress policies from mounted Secrets: /etc/celandine/secrets/NAMESPACE/NAME/KEY
  celandine serve --dir examples --secrets-dir /etc/celandine/secrets

  # Behind a load balancer, whose address no schema may call; with bounds for a small machine, and a log of requests
  celandine serve --dir examples --advertise-address 203.0.113.7 --max-mutating-requests-inflight 64 \\
    --answer-cache-size 16Mi --http-cache-size 16Mi --log-level info";

/// The arguments of `celandine serve`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Directory of schemas and objects; changes are noticed
    #[arg(long, value_name = "DIR")]
    pub(super) dir: PathBuf,
    /// Loopback address and port; port 0 takes any free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8001")]
    pub(super) listen: SocketAddr,
    /// Certificate chain in PEM; HTTPS instead of HTTP
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(super) tls_cert: Option<PathBuf>,
    /// Its private key in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(super) tls_key: Option<PathBuf>,
    /// What is logged to standard error: a level, or levels of parts (`warn,celandine::access=info`)
    #[arg(long, value_name = "LEVEL", default_value = "warn")]
    pub(super) log_level: String,

    /// Credentials of egress policies are files DIR/NAMESPACE/NAME/KEY, as mounted Secrets are, instead of Secret objects of
    /// the workspace `root`; they are read at each use
    #[arg(long, value_name = "DIR", help_heading = "Egress")]
    secrets_dir: Option<PathBuf>,
    /// An address at which this server is reached besides those of its interfaces, as that of a load balancer; no schema can
    /// call it. May be repeated
    #[arg(long, value_name = "ADDRESS", help_heading = "Egress")]
    advertise_address: Vec<IpAddr>,
    /// Memory for HTTP answers that may be used again
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "64Mi", help_heading = "Egress")]
    http_cache_size: u64,

    /// Requests at a time, watches apart; more get 429 [default: as many as creates need, at least 400]
    #[arg(long, value_name = "N", value_parser = count, help_heading = "Bounds")]
    max_requests_inflight: Option<usize>,
    /// Creates at work at a time; twice as many may wait for up to 5s, more get 429 [default: 64 for each core, at least 128]
    #[arg(long, value_name = "N", value_parser = count, help_heading = "Bounds")]
    max_mutating_requests_inflight: Option<usize>,
    /// Watches at a time; more get 429
    #[arg(long, value_name = "N", value_parser = count, default_value_t = Limits::default().watches, help_heading = "Bounds")]
    max_watches: usize,
    /// Open connections; more wait
    #[arg(long, value_name = "N", value_parser = count, default_value_t = Limits::default().connections, help_heading = "Bounds")]
    max_connections: usize,
    /// The longest that a request may take, watches apart; a create takes 34s at most, and less where its schema says so
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "34s", help_heading = "Bounds")]
    request_timeout: Duration,
    /// The longest that requests in flight are waited for when the server is stopped
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "35s", help_heading = "Bounds")]
    shutdown_grace: Duration,
    /// Memory for answers that may be used again
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "64Mi", help_heading = "Bounds")]
    answer_cache_size: u64,
}

impl Args {
    /// The server's bounds.
    pub(super) fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        if let Some(seats) = self.max_mutating_requests_inflight {
            limits.creates.seats = seats;
            // As by default: two waves may wait, of one flow a quarter of them.
            limits.creates.queue = 2 * seats;
            limits.creates.queue_per_flow = seats.div_ceil(2);
            limits.in_flight = (2 * (seats + limits.creates.queue)).max(400);
        }
        if let Some(in_flight) = self.max_requests_inflight {
            limits.in_flight = in_flight;
        }
        // What is left after the answer is for a client that reads slowly.
        let reading = limits.exchange_deadline.saturating_sub(limits.request_deadline);
        limits.request_deadline = self.request_timeout;
        limits.exchange_deadline = self.request_timeout + reading;
        limits.shutdown_grace = self.shutdown_grace;
        limits.watches = self.max_watches;
        limits.connections = self.max_connections;
        limits.answer_bytes = self.answer_cache_size;
        limits
    }

    /// What calls meet outside.
    pub(super) fn outside(&self) -> Result<Outside, CliError> {
        if let Some(folder) = &self.secrets_dir
            && !folder.is_dir()
        {
            return Err(CliError::Message(format!("--secrets-dir: `{}` is no directory", folder.display())));
        }
        Ok(Outside {
            stand_in: None,
            secrets: self.secrets_dir.clone(),
            own: self.advertise_address.clone(),
            cache_bytes: Some(self.http_cache_size),
        })
    }
}

/// A number from 1 on. More than a million of anything is a mistake.
fn count(text: &str) -> Result<usize, String> {
    let number = text.parse::<usize>().ok();
    number.filter(|n| (1..=1_000_000).contains(n)).ok_or_else(|| "a number from 1 to 1000000".to_owned())
}

/// A duration in Go's form, up to a day.
fn duration(text: &str) -> Result<Duration, String> {
    let found = go_duration(text).filter(|d| (Duration::from_secs(1)..=Duration::from_secs(86_400)).contains(d));
    found.ok_or_else(|| "a duration from 1s to 24h, as 90s or 1m30s".to_owned())
}

/// Bytes: a number, as it is or with Ki, Mi or Gi.
fn size(text: &str) -> Result<u64, String> {
    let units = [("Ki", 1_u64 << 10), ("Mi", 1 << 20), ("Gi", 1 << 30)];
    let (number, unit) =
        units.into_iter().find_map(|(suffix, unit)| Some((text.strip_suffix(suffix)?, unit))).unwrap_or((text, 1));
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let bytes = number.parse::<u64>().ok().filter(|_| digits).and_then(|number| number.checked_mul(unit));
    bytes.ok_or_else(|| "a number of bytes, as 64Mi".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(clap::Parser)]
    struct Command {
        #[command(flatten)]
        args: Args,
    }

    fn args(more: &[&str]) -> Args {
        Command::parse_from([&["serve", "--dir", "x"], more].concat()).args
    }

    #[test]
    fn without_flags_the_bounds_are_the_default() {
        assert_eq!(format!("{:?}", args(&[]).limits()), format!("{:?}", Limits::default()));
    }

    #[test]
    fn flags_set_bounds() {
        let limits = args(&["--max-mutating-requests-inflight", "7", "--request-timeout", "1m30s"]).limits();
        assert_eq!((limits.creates.seats, limits.creates.queue, limits.creates.queue_per_flow), (7, 14, 4));
        assert_eq!((limits.in_flight, limits.request_deadline.as_secs()), (400, 90));
        assert_eq!(limits.exchange_deadline.as_secs(), 116);
        let limits = args(&["--max-requests-inflight", "3", "--answer-cache-size", "2Ki"]).limits();
        assert_eq!((limits.in_flight, limits.answer_bytes), (3, 2048));
        for (flag, wrong) in [
            ("--max-requests-inflight", "0"),
            ("--max-connections", "-1"),
            ("--request-timeout", "0s"),
            ("--request-timeout", "5"),
            ("--http-cache-size", "1.5Mi"),
            ("--http-cache-size", "+1"),
            ("--http-cache-size", "99999999999Gi"),
            ("--advertise-address", "example.com"),
        ] {
            let argument = format!("{flag}={wrong}");
            assert!(Command::try_parse_from(["serve", "--dir", "x", &argument]).is_err(), "{argument}");
        }
    }
}
