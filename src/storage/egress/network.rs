//! Networks in CIDR notation, and which addresses they hold.
//!
//! Absent: what a network stands for (address).
use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

/// `10.0.0.0/8`, `2001:db8::/32`. INVARIANT: no bits beyond the prefix are set; upheld by [`Network::parse`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u32,
}

/// A text that is no network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a network in CIDR notation without bits beyond its prefix (`10.0.0.0/8`, `192.0.2.7/32`, `fd00::/8`)")]
pub struct NotANetwork;

impl Network {
    /// Reads CIDR notation. A lone address is not taken: whoever writes one may have meant a network.
    pub fn parse(text: &str) -> Result<Network, NotANetwork> {
        let (address, bits) = text.split_once('/').ok_or(NotANetwork)?;
        let address: IpAddr = address.parse().map_err(|_| NotANetwork)?;
        let plain =
            bits.len() <= 3 && bits.bytes().all(|b| b.is_ascii_digit()) && (bits == "0" || !bits.starts_with('0'));
        let bits: u32 = bits.parse().ok().filter(|_| plain).ok_or(NotANetwork)?;
        let width = if address.is_ipv4() { 32 } else { 128 };
        let network = Network { address, bits };
        if bits <= width && network.base() == value(address) { Ok(network) } else { Err(NotANetwork) }
    }

    /// A network of IPv4.
    pub const fn v4(address: Ipv4Addr, bits: u32) -> Network {
        Network { address: IpAddr::V4(address), bits }
    }

    /// A network of IPv6.
    pub const fn v6(address: Ipv6Addr, bits: u32) -> Network {
        Network { address: IpAddr::V6(address), bits }
    }

    /// Whether it holds an address. IPv4 networks hold no IPv6 address, mapped or not.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.address.is_ipv4() == address.is_ipv4() && self.mask() & value(address) == self.base()
    }

    /// The length of the prefix.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// The first address.
    pub fn address(&self) -> IpAddr {
        self.address
    }

    fn base(&self) -> u128 {
        value(self.address) & self.mask()
    }

    fn mask(&self) -> u128 {
        let width = if self.address.is_ipv4() { 32 } else { 128 };
        // A shift by the whole width is not defined; it stands for the network of all addresses.
        u128::MAX.checked_shl(width - self.bits.min(width)).unwrap_or(0)
    }
}

fn value(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(v4) => u128::from(v4.to_bits()),
        IpAddr::V6(v6) => v6.to_bits(),
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_hold_what_they_should() {
        for (network, inside, outside) in [
            ("10.0.0.0/8", "10.255.255.255", "11.0.0.0"),
            ("0.0.0.0/0", "255.255.255.255", "::1"),
            ("192.0.2.7/32", "192.0.2.7", "192.0.2.8"),
            ("fd00::/8", "fdff::1", "fe00::"),
            ("::/0", "ffff::", "0.0.0.1"),
            ("::1/128", "::1", "::2"),
        ] {
            let parsed = Network::parse(network).unwrap();
            assert_eq!(parsed.to_string(), network);
            assert!(
                parsed.contains(inside.parse().unwrap()) && !parsed.contains(outside.parse().unwrap()),
                "{network}"
            );
        }
        for text in ["10.0.0.1/8", "10.0.0.0/33", "::1/129", "10.0.0.0", "10.0.0.0/08", "10.0.0.0/+8", "10/8", "", "/"]
        {
            assert_eq!(Network::parse(text), Err(NotANetwork), "{text}");
        }
    }
}
