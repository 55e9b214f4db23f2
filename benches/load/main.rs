//! A whole server under load: `celandine serve` as a process of its own, asked over TLS as kubectl asks, by one thread on the
//! same machine. Creates of BucketInfo (one get, one list of 100 of 300 objects), answered from memory and evaluated.
//!
//! Reports what was answered, how long it took, what both processes used, so that the server's own part can be told from the
//! client's. `cargo bench --bench load -- evaluated` runs those of the measurements whose name has this in it.
//!
//! Absent: the client (client, http1, http2), the server's process (server), what it serves (workload), a quiet user beside a
//! greedy one (neighbours), memory at its limits (limits).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    unreachable_pub,
    missing_docs,
    reason = "a benchmark fails by panicking"
)]
mod client;
mod http1;
mod http2;
mod limits;
mod neighbours;
mod server;
mod workload;

use std::{path::Path, time::Duration};

use self::{
    client::{Client, Ran, Version},
    server::{Cpu, Server},
    workload::Answers,
};

/// Connections, one request at a time on each.
const CONNECTIONS: usize = 16;
/// Before anything is counted: connections, caches and allocations are there.
const WARM_UP: Duration = Duration::from_secs(2);
/// One measurement.
const SPAN: Duration = Duration::from_secs(15);
/// What is asked for: kube-apiserver 1.36 answers 4,600 SelfSubjectReviews a second here, p99 34 ms, in 330 to 600 MB.
const PEER: f64 = 4600.0;

fn main() {
    let binary = server::binary();
    println!(
        "BucketInfo over TLS: {CONNECTIONS} connections, one get and one list of {} of {} objects, {} s each, {} cores",
        workload::SELECTED,
        workload::OBJECTS,
        SPAN.as_secs(),
        std::thread::available_parallelism().unwrap()
    );
    println!(
        "{:<22}{:>9}{:>7}{:>8}{:>8}{:>8}{:>11}{:>11}{:>9}{:>9}",
        "", "a second", "peer x", "p50 ms", "p99 ms", "max ms", "server us", "client us", "idle MB", "peak MB"
    );
    // cargo adds flags of its own.
    let wanted: Vec<_> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    for answers in [Answers::FromMemory, Answers::Evaluated] {
        for version in [Version::Http1, Version::Http2] {
            let name = format!("{}, {}", answers.name(), version.name());
            if wanted.iter().all(|part| name.contains(part)) {
                measure(&name, &binary, answers, version);
            }
        }
    }
    if wanted.is_empty() || wanted.iter().any(|part| part == "neighbours") {
        neighbours::measure(&binary);
    }
    if wanted.is_empty() || wanted.iter().any(|part| part == "limits") {
        limits::measure(&binary);
    }
}

/// Milliseconds below which a part of them is.
fn quantiles(micros: &mut [u32]) -> impl Fn(f64) -> f64 {
    micros.sort_unstable();
    |q| f64::from(micros[((micros.len() - 1) as f64 * q) as usize]) / 1e3
}

fn measure(name: &str, binary: &Path, answers: Answers, version: Version) {
    let folder = tempfile::tempdir().unwrap();
    workload::write(folder.path(), answers);
    let server = Server::start(binary, folder.path());
    let idle = server.resident();
    let mut client = Client::connect(&server, version, CONNECTIONS, workload::BUCKET_INFO);
    client.run(|elapsed| elapsed < WARM_UP);
    let before = (server.cpu(), Cpu::of_this_thread());
    let Ran { mut micros, taken, .. } = client.run(|elapsed| elapsed < SPAN);
    let (server_cpu, client_cpu) = (server.cpu() - before.0, Cpu::of_this_thread() - before.1);
    let count = micros.len() as f64;
    let quantile = quantiles(&mut micros);
    let each = |cpu: Cpu| cpu.seconds() / count * 1e6;
    println!(
        "{:<22}{:>9.0}{:>7.1}{:>8.2}{:>8.2}{:>8.1}{:>11.1}{:>11.1}{:>9.1}{:>9.1}",
        name,
        count / taken.as_secs_f64(),
        count / taken.as_secs_f64() / PEER,
        quantile(0.5),
        quantile(0.99),
        quantile(1.0),
        each(server_cpu),
        each(client_cpu),
        idle,
        server.peak(),
    );
}
