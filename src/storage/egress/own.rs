//! The addresses of this machine's interfaces, which nobody may be made to call.
//!
//! Absent: addresses before this machine (configuration). Linux only; elsewhere there are none, and loopback and private
//! addresses are refused anyway.
use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// Interfaces come and go rarely.
const REFRESH: Duration = Duration::from_secs(10);

/// Knows the addresses, freshly enough.
#[derive(Debug, Default)]
pub(super) struct OwnAddresses {
    configured: Vec<IpAddr>,
    found: Mutex<Option<(Instant, Vec<IpAddr>)>>,
}

impl OwnAddresses {
    /// Those of the interfaces, and some more.
    pub(super) fn new(configured: Vec<IpAddr>) -> OwnAddresses {
        OwnAddresses { configured, found: Mutex::default() }
    }

    /// All of them.
    pub(super) fn now(&self) -> Vec<IpAddr> {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let interfaces = match &*found {
            Some((at, addresses)) if at.elapsed() < REFRESH => addresses.clone(),
            _ => {
                let addresses = of_interfaces();
                *found = Some((Instant::now(), addresses.clone()));
                addresses
            }
        };
        self.configured.iter().copied().chain(interfaces).collect()
    }
}

fn of_interfaces() -> Vec<IpAddr> {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let mut addresses: Vec<IpAddr> = local_v4(&read("/proc/net/fib_trie")).into_iter().map(IpAddr::V4).collect();
    addresses.extend(interface_v6(&read("/proc/net/if_inet6")).into_iter().map(IpAddr::V6));
    addresses
}

/// `|-- 192.0.2.7` followed by `/32 host LOCAL`, in the routing table.
fn local_v4(fib_trie: &str) -> Vec<Ipv4Addr> {
    let mut last: Option<Ipv4Addr> = None;
    let mut found = vec![];
    for line in fib_trie.lines() {
        if let Some((_, address)) = line.split_once("|-- ") {
            last = address.trim().parse().ok();
        } else if line.trim() == "/32 host LOCAL" {
            found.extend(last);
        }
    }
    found.sort();
    found.dedup();
    found
}

/// Lines that begin with 32 hexadecimal digits.
fn interface_v6(if_inet6: &str) -> Vec<Ipv6Addr> {
    let digits = if_inet6.lines().filter_map(|line| line.split_whitespace().next());
    digits.filter_map(|digits| u128::from_str_radix(digits, 16).ok()).map(Ipv6Addr::from_bits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_tables_are_read() {
        let trie = "Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 192.0.2.0\n        /24 link UNICAST\n     |-- 192.0.2.7\n        \
                    /32 host LOCAL\n     |-- 192.0.2.255\n        /32 link BROADCAST\n";
        assert_eq!(local_v4(trie), [Ipv4Addr::new(192, 0, 2, 7)]);
        let inet6 = "20010db8000000000000000000000007 02 40 00 80     eth0\n";
        assert_eq!(interface_v6(inet6), ["2001:db8::7".parse::<Ipv6Addr>().unwrap()]);
    }
}
