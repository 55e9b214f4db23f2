//! The registries of special addresses as data. A row is global where the registry says "Globally Reachable: True".
//!
//! Sources: IANA IPv4 Special-Purpose Address Registry and IANA IPv6 Special-Purpose Address Registry (RFC 6890, RFC 8190,
//! as of 2025), IANA IPv4 Multicast Address Space Registry (RFC 5771), RFC 4291 for multicast and site-local IPv6.
//! "N/A" counts as not global. Absent: judgement (address).
use std::net::{Ipv4Addr, Ipv6Addr};

use crate::storage::egress::network::Network;

/// An entry of a registry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// The block.
    pub(super) network: Network,
    /// The registry's name of it.
    pub(super) name: &'static str,
    /// Whether the registry says that it is globally reachable.
    pub(super) global: bool,
}

const fn v4(octets: [u8; 4], bits: u32, name: &'static str, global: bool) -> Row {
    let [a, b, c, d] = octets;
    Row { network: Network::v4(Ipv4Addr::new(a, b, c, d), bits), name, global }
}

const fn block(groups: [u16; 8], bits: u32) -> Network {
    let [a, b, c, d, e, f, g, h] = groups;
    Network::v6(Ipv6Addr::new(a, b, c, d, e, f, g, h), bits)
}

const fn v6(groups: [u16; 8], bits: u32, name: &'static str, global: bool) -> Row {
    Row { network: block(groups, bits), name, global }
}

/// `2000::/3`: the only block of which addresses are given out (RFC 4291, section 2.4; IANA IPv6 Address Space).
pub(super) const GLOBAL_UNICAST: Network = block([0x2000, 0, 0, 0, 0, 0, 0, 0], 3);
/// `::a.b.c.d`
pub(super) const COMPATIBLE: Network = block([0; 8], 96);
/// `64:ff9b::a.b.c.d`
pub(super) const NAT64: Network = block([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96);
/// `64:ff9b:1::`
pub(super) const NAT64_LOCAL: Network = block([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48);
/// `2002::`
pub(super) const SIX_TO_FOUR: Network = block([0x2002, 0, 0, 0, 0, 0, 0, 0], 16);
/// `2001::`
pub(super) const TEREDO: Network = block([0x2001, 0, 0, 0, 0, 0, 0, 0], 32);

/// IPv4.
pub(super) const V4: &[Row] = &[
    v4([0, 0, 0, 0], 8, "this network", false),
    v4([10, 0, 0, 0], 8, "private-use", false),
    v4([100, 64, 0, 0], 10, "shared address space", false),
    v4([127, 0, 0, 0], 8, "loopback", false),
    v4([169, 254, 0, 0], 16, "link-local", false),
    v4([172, 16, 0, 0], 12, "private-use", false),
    v4([192, 0, 0, 0], 24, "IETF protocol assignments", false),
    v4([192, 0, 0, 9], 32, "Port Control Protocol anycast", true),
    v4([192, 0, 0, 10], 32, "Traversal Using Relays around NAT anycast", true),
    v4([192, 0, 2, 0], 24, "documentation", false),
    v4([192, 31, 196, 0], 24, "AS112-v4", true),
    v4([192, 52, 193, 0], 24, "AMT", true),
    v4([192, 88, 99, 0], 24, "deprecated 6to4 relay anycast", false),
    v4([192, 168, 0, 0], 16, "private-use", false),
    v4([192, 175, 48, 0], 24, "direct delegation AS112 service", true),
    v4([198, 18, 0, 0], 15, "benchmarking", false),
    v4([198, 51, 100, 0], 24, "documentation", false),
    v4([203, 0, 113, 0], 24, "documentation", false),
    v4([224, 0, 0, 0], 4, "multicast", false),
    v4([240, 0, 0, 0], 4, "reserved", false),
    v4([255, 255, 255, 255], 32, "limited broadcast", false),
];

/// IPv6. What is neither here nor in [`GLOBAL_UNICAST`] is unassigned.
pub(super) const V6: &[Row] = &[
    v6([0, 0, 0, 0, 0, 0, 0, 0], 128, "unspecified", false),
    v6([0, 0, 0, 0, 0, 0, 0, 1], 128, "loopback", false),
    v6([0, 0, 0, 0, 0, 0, 0, 0], 96, "IPv4-compatible", false),
    v6([0, 0, 0, 0, 0, 0xffff, 0, 0], 96, "IPv4-mapped", false),
    v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96, "IPv4-IPv6 translation", true),
    v6([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48, "IPv4-IPv6 translation, local", false),
    v6([0x100, 0, 0, 0, 0, 0, 0, 0], 64, "discard-only", false),
    v6([0x100, 0, 0, 1, 0, 0, 0, 0], 64, "dummy prefix", false),
    v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23, "IETF protocol assignments", false),
    v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 32, "Teredo", false),
    v6([0x2001, 1, 0, 0, 0, 0, 0, 1], 128, "Port Control Protocol anycast", true),
    v6([0x2001, 1, 0, 0, 0, 0, 0, 2], 128, "Traversal Using Relays around NAT anycast", true),
    v6([0x2001, 1, 0, 0, 0, 0, 0, 3], 128, "DNS-SD service registration anycast", true),
    v6([0x2001, 2, 0, 0, 0, 0, 0, 0], 48, "benchmarking", false),
    v6([0x2001, 3, 0, 0, 0, 0, 0, 0], 32, "AMT", true),
    v6([0x2001, 4, 0x112, 0, 0, 0, 0, 0], 48, "AS112-v6", true),
    v6([0x2001, 0x10, 0, 0, 0, 0, 0, 0], 28, "deprecated ORCHID", false),
    v6([0x2001, 0x20, 0, 0, 0, 0, 0, 0], 28, "ORCHIDv2", true),
    v6([0x2001, 0x30, 0, 0, 0, 0, 0, 0], 28, "drone remote identification", true),
    v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32, "documentation", false),
    v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16, "6to4", false),
    v6([0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0], 48, "direct delegation AS112 service", true),
    v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, "documentation", false),
    v6([0x5f00, 0, 0, 0, 0, 0, 0, 0], 16, "segment routing identifiers", false),
    v6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7, "unique-local", false),
    v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10, "link-local unicast", false),
    v6([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10, "deprecated site-local", false),
    v6([0xff00, 0, 0, 0, 0, 0, 0, 0], 8, "multicast", false),
];
