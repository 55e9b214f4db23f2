//! Which addresses may be connected to: global unicast, and what a policy's `networks.allow` names.
//!
//! An IPv6 address may hold an IPv4 address to which some gateway sends on; both have to be allowed. Nothing is guessed: what
//! the tables do not know as global is refused. Absent: looking names up (resolve), opening connections (dial).
mod special;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::storage::egress::network::Network;

/// What an address is, in the words of the registry that says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Reachable over the public internet, and one machine.
    Global,
    /// Something else; the name of its registry entry.
    Special(&'static str),
}

/// Why an address is refused. For logs of the administrator, never for answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The address that was found.
    pub address: IpAddr,
    /// What it is, or what the IPv4 address within it is.
    pub class: &'static str,
}

/// Judges an address; gives the one to connect to, which is the IPv4 address of an IPv4-mapped one.
pub fn vet(address: IpAddr, allow: &[Network], own: &[IpAddr]) -> Result<IpAddr, Refusal> {
    let outer = unmapped(address);
    let judge = |judged: IpAddr| {
        if allow.iter().any(|network| network.contains(judged)) {
            return Ok(());
        }
        if own.iter().any(|mine| unmapped(*mine) == judged) {
            return Err(Refusal { address, class: "the server's own address" });
        }
        match classify(judged) {
            Class::Global => Ok(()),
            Class::Special(class) => Err(Refusal { address, class }),
        }
    };
    judge(outer)?;
    if let IpAddr::V6(v6) = outer {
        for inner in embedded(v6) {
            judge(inner.into())?;
        }
    }
    Ok(outer)
}

/// What an address is by itself, without what it may hold.
pub fn classify(address: IpAddr) -> Class {
    let table = match address {
        IpAddr::V4(_) => special::V4,
        IpAddr::V6(_) => special::V6,
    };
    // Registries nest: the longest prefix is the one that speaks.
    let row = table.iter().filter(|row| row.network.contains(address)).max_by_key(|row| row.network.bits());
    match (row, address) {
        (Some(row), _) if !row.global => Class::Special(row.name),
        (Some(_), _) | (None, IpAddr::V4(_)) => Class::Global,
        (None, IpAddr::V6(_)) if special::GLOBAL_UNICAST.contains(address) => Class::Global,
        (None, IpAddr::V6(_)) => Class::Special("unassigned"),
    }
}

/// The IPv4 address of an IPv4-mapped one: sockets treat both alike.
fn unmapped(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    }
}

/// The IPv4 addresses to which an IPv6 address may lead.
fn embedded(v6: Ipv6Addr) -> Vec<Ipv4Addr> {
    let bits = v6.to_bits();
    let low = |bits: u128| Ipv4Addr::from_bits(u32::try_from(bits & 0xffff_ffff).unwrap_or(0));
    let within = |network: Network| network.contains(v6.into());
    let mut found = vec![];
    // ::a.b.c.d (RFC 4291, section 2.5.5.1, deprecated) and 64:ff9b::a.b.c.d (RFC 6052).
    if within(special::COMPATIBLE) || within(special::NAT64) {
        found.push(low(bits));
    }
    // 64:ff9b:1::/48 (RFC 8215) is for translators with prefixes of any length in it: every place where RFC 6052,
    // section 2.2 puts the address with a prefix of 48, 56, 64 or 96 bits; bits 64 to 71 are skipped.
    if within(special::NAT64_LOCAL) {
        let around = |first: u128, rest: u128, bits_after: u32| low((first << bits_after) | rest);
        found.push(around(bits >> 64 & 0xffff, bits >> 40 & 0xffff, 16));
        found.push(around(bits >> 64 & 0xff, bits >> 32 & 0xff_ffff, 24));
        found.push(low(bits >> 24));
        found.push(low(bits));
    }
    // 2002:a.b.c.d::/48 (RFC 3056).
    if within(special::SIX_TO_FOUR) {
        found.push(low(bits >> 80));
    }
    // Teredo (RFC 4380): the server, and the client with its bits inverted.
    if within(special::TEREDO) {
        found.extend([low(bits >> 64), low(!bits)]);
    }
    // ISATAP (RFC 5214) in any network: the identifier 0000:5efe or 0200:5efe before the address.
    if matches!(bits >> 32 & 0xffff_ffff, 0x0000_5efe | 0x0200_5efe) {
        found.push(low(bits));
    }
    found
}

#[cfg(test)]
mod tests;
