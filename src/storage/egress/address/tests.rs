//! Laws of the classifier, over the edges of all blocks and over many random addresses.
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::*;

/// Pseudo-random numbers (xorshift64*), the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn v4(&mut self) -> Ipv4Addr {
        Ipv4Addr::from_bits((self.next() >> 32) as u32)
    }

    fn v6(&mut self) -> Ipv6Addr {
        Ipv6Addr::from_bits(u128::from(self.next()) << 64 | u128::from(self.next()))
    }
}

/// First and last of every block, their neighbours, and random ones.
fn v4s() -> Vec<Ipv4Addr> {
    let mut random = Random(1);
    let mut all: Vec<Ipv4Addr> = (0..50_000).map(|_| random.v4()).collect();
    for row in special::V4 {
        let IpAddr::V4(first) = row.network.address() else { panic!() };
        let size = 1_u64 << (32 - row.network.bits());
        let last = first.to_bits().wrapping_add((size - 1) as u32);
        let edges = [first.to_bits().wrapping_sub(1), first.to_bits(), last, last.wrapping_add(1)];
        all.extend(edges.map(Ipv4Addr::from_bits));
    }
    all
}

fn v6s() -> Vec<Ipv6Addr> {
    let mut random = Random(2);
    let mut all: Vec<Ipv6Addr> = (0..20_000).map(|_| random.v6()).collect();
    for row in special::V6 {
        let IpAddr::V6(first) = row.network.address() else { panic!() };
        let host = u128::MAX.checked_shr(row.network.bits()).unwrap_or(0);
        let last = first.to_bits() | host;
        let edges = [first.to_bits().wrapping_sub(1), first.to_bits(), last, last.wrapping_add(1)];
        all.extend(edges.map(Ipv6Addr::from_bits));
        all.extend((0..200).map(|_| Ipv6Addr::from_bits(first.to_bits() | (random.v6().to_bits() & host))));
    }
    all
}

fn is_refused(address: impl Into<IpAddr>) -> bool {
    vet(address.into(), &[], &[]).is_err()
}

/// An oracle by comparison of numbers, written without the tables of blocks: RFC 6890 and its updates.
fn v4_oracle(address: Ipv4Addr) -> bool {
    let [a, b, c, d] = address.octets();
    match (a, b, c) {
        (0 | 10 | 127, ..) | (224.., ..) => false,
        (100, 64..=127, _) | (169, 254, _) | (172, 16..=31, _) | (192, 168, _) | (198, 18..=19, _) => false,
        (192, 0, 0) => matches!(d, 9 | 10),
        (192, 0, 2) | (192, 88, 99) | (198, 51, 100) | (203, 0, 113) => false,
        _ => true,
    }
}

#[test]
fn ipv4_is_as_the_registry_says() {
    for address in v4s() {
        assert_eq!(classify(address.into()) == Class::Global, v4_oracle(address), "{address}");
    }
}

/// The registries as IANA has them: what the longest block says, and besides that multicast and what is not given out.
fn registered(address: IpAddr, blocks: &[(Network, bool)]) -> bool {
    let longest = blocks.iter().filter(|(block, _)| block.contains(address)).max_by_key(|(block, _)| block.bits());
    match (longest, address) {
        (Some((_, global)), _) => *global,
        (None, IpAddr::V4(v4)) => !v4.is_multicast(),
        (None, IpAddr::V6(v6)) => v6.segments()[0] >> 13 == 1,
    }
}

#[test]
fn both_are_as_the_registries_say() {
    let lines = include_str!("iana.txt").lines().filter(|line| !line.starts_with('#'));
    let blocks: Vec<(Network, bool)> = lines
        .map(|line| {
            let (block, global) = line.split_once(' ').unwrap();
            (Network::parse(block).unwrap_or_else(|_| panic!("{block}")), global == "True")
        })
        .collect();
    assert_eq!(blocks.len(), 51);
    let (mut random, mut all) = (Random(3), vec![]);
    all.extend(v4s().into_iter().map(IpAddr::V4));
    all.extend(v6s().into_iter().map(IpAddr::V6));
    // The edges and some of the inside of each block of the registry, whether we have it or not.
    for (block, _) in &blocks {
        let (first, host) = match block.address() {
            IpAddr::V4(v4) => (u128::from(v4.to_bits()), u128::from(u32::MAX.checked_shr(block.bits()).unwrap_or(0))),
            IpAddr::V6(v6) => (v6.to_bits(), u128::MAX.checked_shr(block.bits()).unwrap_or(0)),
        };
        let last = first | host;
        let inside = (0..200).map(|_| first | (random.v6().to_bits() & host));
        for bits in [first.wrapping_sub(1), first, last, last.wrapping_add(1)].into_iter().chain(inside) {
            all.push(match block.address() {
                IpAddr::V4(_) => Ipv4Addr::from_bits((bits & u128::from(u32::MAX)) as u32).into(),
                IpAddr::V6(_) => Ipv6Addr::from_bits(bits).into(),
            });
        }
    }
    for address in all {
        assert_eq!(classify(address) == Class::Global, registered(address, &blocks), "{address}");
    }
}

#[test]
fn what_the_standard_library_knows_as_special_is_refused() {
    for v4 in v4s() {
        let special = v4.is_loopback()
            || v4.is_private()
            || v4.is_link_local()
            || v4.is_multicast()
            || v4.is_broadcast()
            || v4.is_documentation()
            || v4.is_unspecified();
        assert!(!special || is_refused(v4), "{v4}");
    }
    for v6 in v6s() {
        let special = v6.is_loopback()
            || v6.is_unspecified()
            || v6.is_multicast()
            || v6.is_unique_local()
            || v6.is_unicast_link_local();
        assert!(!special || is_refused(v6), "{v6}");
    }
}

#[test]
fn ipv6_outside_global_unicast_is_refused() {
    for v6 in v6s() {
        let first = v6.segments()[0];
        let nat64 = v6.to_bits() >> 32 == 0x0064_ff9b_0000_0000_0000_0000;
        let mapped = v6.to_ipv4_mapped().is_some();
        assert!((0x2000..0x4000).contains(&first) || nat64 || mapped || is_refused(v6), "{v6}");
    }
}

#[test]
fn a_refused_ipv4_address_is_refused_in_every_wrapping() {
    for v4 in v4s() {
        let bits = u128::from(v4.to_bits());
        let mapped = Ipv6Addr::from_bits(0xffff << 32 | bits);
        assert_eq!(is_refused(mapped), is_refused(v4), "{mapped}");
        assert!(vet(mapped.into(), &[], &[]).is_ok_and(|dialled| dialled == v4) || is_refused(v4));
        let nat64 = Ipv6Addr::from_bits(0x0064_ff9b << 96 | bits);
        assert_eq!(is_refused(nat64), is_refused(v4), "{nat64}");
        let isatap = Ipv6Addr::from_bits(0x2606_4700 << 96 | 0x5efe << 32 | bits);
        assert_eq!(is_refused(isatap), is_refused(v4), "{isatap}");
        // Not reachable over the public internet in the first place.
        let six_to_four = 0x2002 << 112 | bits << 80;
        let teredo = 0x2001 << 112 | 0x0808_0808 << 64 | u128::from(!v4.to_bits());
        for wrapped in [bits, six_to_four, teredo, 0x0064_ff9b_0001 << 80 | bits] {
            assert!(is_refused(Ipv6Addr::from_bits(wrapped)), "{}", Ipv6Addr::from_bits(wrapped));
        }
    }
}

#[test]
fn to_allow_a_wrapping_does_not_allow_what_it_wraps() {
    let allow: Vec<Network> =
        ["2002::/16", "2001::/32", "64:ff9b:1::/48", "::/96"].map(|text| Network::parse(text).unwrap()).into();
    let judge = |text: &str| vet(text.parse().unwrap(), &allow, &[]).map_err(|refusal| refusal.class);
    for (public, private) in [
        ("2002:808:808::1", "2002:7f00:1::1"),
        ("2001:0:808:808:0:0:f7f7:f7f7", "2001:0:808:808:0:0:80ff:fffe"),
        ("2001:0:808:808:0:0:f7f7:f7f7", "2001:0:a00:1:0:0:f7f7:f7f7"),
        ("64:ff9b:1:808:8:800:808:808", "64:ff9b:1:a9fe:a9:fe00:808:808"),
        ("::8.8.8.8", "::169.254.169.254"),
    ] {
        assert!(judge(public).is_ok(), "{public}: {:?}", judge(public));
        assert!(judge(private).is_err(), "{private}");
    }
}

#[test]
fn policies_allow_networks_and_own_addresses_are_refused() {
    let allow = [Network::parse("10.1.0.0/16").unwrap(), Network::parse("fd00::/8").unwrap()];
    let own = ["1.1.1.1".parse().unwrap(), "2606:4700::7".parse().unwrap()];
    let judge = |text: &str| vet(text.parse().unwrap(), &allow, &own).map_err(|refusal| refusal.class);
    assert!(judge("10.1.2.3").is_ok() && judge("::ffff:10.1.2.3").is_ok() && judge("fd00:ec2::254").is_ok());
    assert_eq!(judge("10.2.0.0"), Err("private-use"));
    assert_eq!(judge("1.1.1.1"), Err("the server's own address"));
    assert_eq!(judge("::ffff:1.1.1.1"), Err("the server's own address"));
    assert_eq!(judge("64:ff9b::1.1.1.1"), Err("the server's own address"));
    assert_eq!(judge("2606:4700::7"), Err("the server's own address"));
    assert!(judge("1.0.0.1").is_ok() && judge("2606:4700::8").is_ok());
}
