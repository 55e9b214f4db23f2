//! The host of a URL or an endpoint in its one normal form: lower case, punycode, no trailing dot, addresses as addresses.
//!
//! Absent: what a name resolves to (resolve), which addresses are allowed (address).
use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    sync::Arc,
};

use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};

use crate::storage::egress::error::UrlFault;

/// INVARIANT: a name is in normal form and is not an address in any spelling; upheld by [`Host::parse`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Host {
    /// `metrics.acme.example`
    Name(Arc<str>),
    /// `203.0.113.7`, `[2001:db8::7]`
    Address(IpAddr),
}

impl Host {
    /// Reads a host as it stands in a URL: a name, an IPv4 address in its usual form, an IPv6 address in brackets.
    pub fn parse(text: &str) -> Result<Host, UrlFault> {
        if let Some(inner) = text.strip_prefix('[') {
            let inner = inner.strip_suffix(']').ok_or(UrlFault::Host)?;
            // Zones (`fe80::1%eth0`) are not parsed: they choose an interface of this machine.
            return inner.parse::<Ipv6Addr>().map(|v6| Host::Address(v6.into())).map_err(|_| UrlFault::Host);
        }
        // Mapping characters first and looking afterwards: full-width digits are digits only then.
        let ascii = Uts46::new()
            .to_ascii(text.as_bytes(), AsciiDenyList::STD3, Hyphens::Allow, DnsLength::VerifyAllowRootDot)
            .map_err(|_| UrlFault::Host)?;
        let name = ascii.strip_suffix('.').unwrap_or(&ascii);
        if ends_in_number(name) {
            let address: Ipv4Addr = name.parse().map_err(|_| UrlFault::OddAddress)?;
            return if text == name { Ok(Host::Address(address.into())) } else { Err(UrlFault::OddAddress) };
        }
        if name.is_empty() { Err(UrlFault::Host) } else { Ok(Host::Name(name.into())) }
    }
}

/// Whether resolvers may take a name for an IPv4 address (WHATWG URL, "ends in a number"): `127.1`, `0x7f.1`, `017700000001`.
fn ends_in_number(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    let hexadecimal = last.strip_prefix("0x").is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
    hexadecimal || (!last.is_empty() && last.bytes().all(|b| b.is_ascii_digit()))
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Host::Name(name) => f.write_str(name),
            Host::Address(IpAddr::V4(v4)) => write!(f, "{v4}"),
            Host::Address(IpAddr::V6(v6)) => write!(f, "[{v6}]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: Result<&str, UrlFault>) {
        assert_eq!(Host::parse(text).map(|host| host.to_string()), want.map(str::to_owned), "{text}");
    }

    #[test]
    fn names_have_one_form() {
        for text in ["metrics.acme.example", "METRICS.Acme.example", "metrics.acme.example.", "metrics。acme．example"]
        {
            check(text, Ok("metrics.acme.example"));
        }
        check("bücher.example", Ok("xn--bcher-kva.example"));
        check("BÜCHER.example", Ok("xn--bcher-kva.example"));
        check("xn--bcher-kva.example", Ok("xn--bcher-kva.example"));
    }

    #[test]
    fn addresses_have_one_form_and_odd_ones_are_refused() {
        check("203.0.113.7", Ok("203.0.113.7"));
        check("[2001:DB8:0::7]", Ok("[2001:db8::7]"));
        for text in
            ["127.1", "0x7f.1", "0x7f000001", "2130706433", "017700000001", "127.0.0.01", "127.0.0.1.", "１２７.0.0.1"]
        {
            check(text, Err(UrlFault::OddAddress));
        }
        for text in
            ["", ".", "a..b", "[::1", "[fe80::1%eth0]", "[127.0.0.1]", "a b", "a_b.example", "a%2eb", "::1", "*.b"]
        {
            check(text, Err(UrlFault::Host));
        }
    }
}
