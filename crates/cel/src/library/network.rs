//! IP addresses and CIDRs: `ip('10.0.0.1')`, `cidr('10.0.0.0/8').containsIP('10.0.0.1')`.
//!
//! Zones are refused, and IPv4-mapped IPv6 addresses; but for the specification, which takes an address whose IPv4 part is
//! written in hexadecimal, and has it equal to the IPv4 address.
//!
//! Absent: reading text (parse).
mod parse;

use std::{
    any::Any,
    net::{IpAddr, Ipv4Addr},
    sync::Arc,
};

use crate::{
    estimate::{Bounds, Guess, rule::size},
    eval::{Context, Halt},
    library::{
        Cost, Function, Implementation, Library,
        build::{at, function, global, invalid, method, no_overload, no_overload_of},
        cost::{self, Price},
    },
    types::Type,
    value::{Opaque, Value},
};

const IP: &str = "net.IP";
const CIDR: &str = "net.CIDR";

/// The library as the specification has it.
pub(crate) fn library() -> Library {
    with(&SPECIFICATION)
}

/// The library as Kubernetes has it.
pub(crate) fn kubernetes() -> Library {
    with(&KUBERNETES)
}

/// What reads addresses in texts.
struct Dialect {
    ip: Implementation,
    is_ip: Implementation,
    is_canonical: Implementation,
    contains_ip: Implementation,
}

const SPECIFICATION: Dialect = Dialect {
    ip: |_, args| to_ip(args, parse_ip_or_mapped),
    is_ip: |_, args| is_ip(args, parse_ip_or_mapped),
    is_canonical: |_, args| is_canonical(args, parse_ip_or_mapped),
    contains_ip: |_, args| contains_ip(args, parse_ip_or_mapped),
};

const KUBERNETES: Dialect = Dialect {
    ip: |_, args| to_ip(args, parse_ip),
    is_ip: |_, args| is_ip(args, parse_ip),
    is_canonical: |_, args| is_canonical(args, parse_ip),
    contains_ip: |_, args| contains_ip(args, parse_ip),
};

type Parse = fn(&str) -> Result<IpAddr, Halt>;

fn with(dialect: &Dialect) -> Library {
    let functions = addresses(dialect).into_iter().chain(kinds()).chain(prefixes(dialect)).collect();
    let name =
        |name: &str| (Arc::from(name), Type::type_of(Type::opaque(name)), Value::Type(Type::opaque(name).into()));
    Library { name: "network", functions, constants: vec![name(IP), name(CIDR)], ..Library::default() }
}

#[derive(Debug)]
struct Address(IpAddr);

#[derive(Debug, PartialEq, Eq)]
struct Prefix {
    ip: IpAddr,
    bits: u8,
}

impl Opaque for Address {
    fn type_of(&self) -> Type {
        Type::opaque(IP)
    }
    fn equals(&self, other: &dyn Opaque) -> bool {
        other.as_any().downcast_ref::<Address>().is_some_and(|other| other.0.to_canonical() == self.0.to_canonical())
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn cost_size(&self) -> u64 {
        if self.0.is_ipv4() { 4 } else { 16 }
    }
    fn to_json(&self) -> Option<Value> {
        Some(self.0.to_string().into())
    }
}

impl Opaque for Prefix {
    fn type_of(&self) -> Type {
        Type::opaque(CIDR)
    }
    fn equals(&self, other: &dyn Opaque) -> bool {
        other.as_any().downcast_ref::<Prefix>() == Some(self)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn cost_size(&self) -> u64 {
        u64::from(self.bits.div_ceil(8))
    }
    fn to_json(&self) -> Option<Value> {
        Some(self.text().into())
    }
}

impl Prefix {
    fn text(&self) -> String {
        format!("{}/{}", self.ip, self.bits)
    }

    fn contains(&self, ip: IpAddr) -> bool {
        masked(self.ip, self.bits) == masked(ip.to_canonical(), self.bits)
    }
}

/// The address with all bits past the first `bits` 0.
fn masked(ip: IpAddr, bits: u8) -> IpAddr {
    match ip {
        IpAddr::V4(ip) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(bits.min(32))).unwrap_or(0);
            IpAddr::V4((ip.to_bits() & mask).into())
        }
        IpAddr::V6(ip) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(bits.min(128))).unwrap_or(0);
            IpAddr::V6((ip.to_bits() & mask).into())
        }
    }
}

fn addresses(dialect: &Dialect) -> Vec<Function> {
    use Type::{Bool, String};
    let ip = || Type::opaque(IP);
    vec![
        function(
            "ip",
            vec![
                at(
                    cost::RECEIVER,
                    global(
                        "string_to_ip",
                        vec![String],
                        ip(),
                        dialect.ip,
                        "The address; an error for anything else.",
                        "ip('10.0.0.1') == ip('10.0.0.1')",
                    ),
                ),
                method(
                    "cidr_ip",
                    vec![Type::opaque(CIDR)],
                    ip(),
                    prefix_ip,
                    "The address in front of the slash.",
                    "cidr('10.1.2.3/8').ip() == ip('10.1.2.3')",
                ),
            ],
        ),
        function(
            "isIP",
            vec![at(
                cost::RECEIVER,
                global(
                    "is_ip",
                    vec![String],
                    Bool,
                    dialect.is_ip,
                    "Whether the text is an address.",
                    "isIP('::1') && !isIP('10.0.0')",
                ),
            )],
        ),
        function(
            "ip.isCanonical",
            vec![at(
                cost::RECEIVER_TWICE,
                global(
                    "ip_is_canonical",
                    vec![String],
                    Bool,
                    dialect.is_canonical,
                    "Whether the address is written as it is printed.",
                    "!ip.isCanonical('2001:DB8::1')",
                ),
            )],
        ),
        function(
            "string",
            vec![
                global(
                    "ip_to_string",
                    vec![ip()],
                    String,
                    to_string,
                    "The address as text.",
                    "string(ip('2001:DB8::1')) == '2001:db8::1'",
                ),
                global(
                    "cidr_to_string",
                    vec![Type::opaque(CIDR)],
                    String,
                    to_string,
                    "The prefix as text.",
                    "string(cidr('10.1.2.3/8')) == '10.1.2.3/8'",
                ),
            ],
        ),
        function("family", vec![method("family", vec![ip()], Type::Int, family, "4 or 6.", "ip('::1').family() == 6")]),
    ]
}

fn kinds() -> Vec<Function> {
    let of = |name: &str, id, code: Implementation, doc, example| {
        function(name, vec![method(id, vec![Type::opaque(IP)], Type::Bool, code, doc, example)])
    };
    vec![
        of(
            "isUnspecified",
            "is_unspecified",
            |_, args| kind("isUnspecified", args, |ip| ip.is_unspecified()),
            "`0.0.0.0` or `::`.",
            "ip('::').isUnspecified()",
        ),
        of(
            "isLoopback",
            "is_loopback",
            |_, args| kind("isLoopback", args, |ip| ip.is_loopback()),
            "In `127.0.0.0/8`, or `::1`.",
            "ip('127.0.0.1').isLoopback()",
        ),
        of(
            "isLinkLocalMulticast",
            "is_link_local_multicast",
            |_, args| kind("isLinkLocalMulticast", args, link_local_multicast),
            "In `224.0.0.0/24` or `ff02::/16`.",
            "ip('224.0.0.1').isLinkLocalMulticast()",
        ),
        of(
            "isLinkLocalUnicast",
            "is_link_local_unicast",
            |_, args| kind("isLinkLocalUnicast", args, link_local_unicast),
            "In `169.254.0.0/16` or `fe80::/10`.",
            "ip('fe80::1').isLinkLocalUnicast()",
        ),
        of(
            "isGlobalUnicast",
            "is_global_unicast",
            |_, args| kind("isGlobalUnicast", args, global_unicast),
            "None of the others, private ones included.",
            "ip('10.0.0.1').isGlobalUnicast()",
        ),
    ]
}

fn prefixes(dialect: &Dialect) -> Vec<Function> {
    use Type::{Bool, Int, String};
    let cidr = || Type::opaque(CIDR);
    let holds_ip = Price::new(
        Cost::Args(|args| cost::tenth(2 * cost::size(args.first())) + text_price(args)),
        |_| Guess::cost(two_addresses()),
        "a fifth of the prefix's size, and a tenth of a text's",
    );
    let holds_cidr = Price::new(
        Cost::Args(|args| {
            let size = cost::size(args.first());
            cost::tenth(2 * size) + cost::tenth(size) + 1 + text_price(args)
        }),
        |_| Guess::cost(two_prefixes()),
        "1 and three tenths of the prefix's size, and a tenth of a text's",
    );
    vec![
        function(
            "cidr",
            vec![at(
                cost::RECEIVER,
                global(
                    "string_to_cidr",
                    vec![String],
                    cidr(),
                    to_cidr,
                    "The prefix; an error for anything else.",
                    "cidr('10.0.0.0/8').prefixLength() == 8",
                ),
            )],
        ),
        function(
            "isCIDR",
            vec![at(
                cost::RECEIVER,
                global(
                    "is_cidr",
                    vec![String],
                    Bool,
                    is_cidr,
                    "Whether the text is a prefix.",
                    "isCIDR('10.0.0.0/8') && !isCIDR('10.0.0.0')",
                ),
            )],
        ),
        function(
            "containsIP",
            vec![
                at(
                    holds_ip.estimated(|args| Guess::cost(two_addresses() + size(args, 1).scaled(0.1))),
                    method(
                        "cidr_contains_ip_string",
                        vec![cidr(), String],
                        Bool,
                        dialect.contains_ip,
                        "Whether the address lies in the prefix.",
                        "cidr('10.0.0.0/8').containsIP('10.1.2.3')",
                    ),
                ),
                at(
                    holds_ip,
                    method(
                        "cidr_contains_ip_ip",
                        vec![cidr(), Type::opaque(IP)],
                        Bool,
                        dialect.contains_ip,
                        "Whether the address lies in the prefix.",
                        "cidr('10.0.0.0/8').containsIP(ip('10.1.2.3'))",
                    ),
                ),
            ],
        ),
        function(
            "containsCIDR",
            vec![
                at(
                    holds_cidr.estimated(|args| Guess::cost(two_prefixes() + size(args, 1).scaled(0.1))),
                    method(
                        "cidr_contains_cidr_string",
                        vec![cidr(), String],
                        Bool,
                        contains_cidr,
                        "Whether all of the other prefix lies in the prefix.",
                        "cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')",
                    ),
                ),
                at(
                    holds_cidr,
                    method(
                        "cidr_contains_cidr",
                        vec![cidr(), cidr()],
                        Bool,
                        contains_cidr,
                        "Whether all of the other prefix lies in the prefix.",
                        "cidr('10.0.0.0/8').containsCIDR(cidr('10.1.0.0/16'))",
                    ),
                ),
            ],
        ),
        function(
            "prefixLength",
            vec![method(
                "cidr_prefix_length",
                vec![cidr()],
                Int,
                prefix_length,
                "The number after the slash.",
                "cidr('10.0.0.0/8').prefixLength() == 8",
            )],
        ),
        function(
            "masked",
            vec![method(
                "cidr_masked",
                vec![cidr()],
                cidr(),
                mask,
                "With all bits past the prefix 0.",
                "cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8')",
            )],
        ),
    ]
}

/// Comparing twice 4 to 16 bytes.
fn two_addresses() -> Bounds {
    Bounds::new(8, 32).scaled(0.1)
}

/// Comparing them, masking one, comparing the lengths.
fn two_prefixes() -> Bounds {
    two_addresses() + Bounds::new(4, 16).scaled(0.1) + Bounds::exactly(1)
}

/// What reading the argument costs where it is text.
fn text_price(args: &[Value]) -> u64 {
    if matches!(args.get(1), Some(Value::String(_))) { cost::tenth(cost::size(args.get(1))) } else { 0 }
}

fn parse_ip(text: &str) -> Result<IpAddr, Halt> {
    match parse_ip_or_mapped(text)? {
        ip if is_mapped(ip) => Err(mapped(text)),
        ip => Ok(ip),
    }
}

fn parse_ip_or_mapped(text: &str) -> Result<IpAddr, Halt> {
    match parse::address(text) {
        Err(error) => Err(invalid(format!("IP Address {text:?} parse error during conversion from string: {error}"))),
        Ok((_, Some(_))) => Err(invalid(format!("IP address {text:?} with zone value is not allowed"))),
        // Even the specification refuses one with dots.
        Ok((ip, None)) if is_mapped(ip) && text.contains('.') => Err(mapped(text)),
        Ok((ip, None)) => Ok(ip),
    }
}

fn mapped(text: &str) -> Halt {
    invalid(format!("IPv4-mapped IPv6 address {text:?} is not allowed"))
}

fn parse_cidr(text: &str) -> Result<Prefix, Halt> {
    const WHERE: &str = "network address parse error during conversion from string";
    match parse::prefix(text) {
        // Upstream wraps it twice.
        Err(error) => Err(invalid(format!("{WHERE}: {WHERE}: {error}"))),
        Ok((ip, _)) if is_mapped(ip) => {
            Err(invalid(format!("{WHERE}: IPv4-mapped IPv6 address {text:?} is not allowed")))
        }
        Ok((ip, bits)) => Ok(Prefix { ip, bits }),
    }
}

fn is_mapped(ip: IpAddr) -> bool {
    matches!(ip, IpAddr::V6(ip) if ip.to_ipv4_mapped().is_some())
}

fn address_of(value: &Value) -> Option<IpAddr> {
    if let Value::Opaque(opaque) = value { opaque.as_any().downcast_ref::<Address>().map(|a| a.0) } else { None }
}

fn prefix_of(value: &Value) -> Option<&Prefix> {
    if let Value::Opaque(opaque) = value { opaque.as_any().downcast_ref() } else { None }
}

fn to_ip(args: &[Value], parse: Parse) -> Result<Value, Halt> {
    match args {
        [Value::String(text)] => Ok(Value::Opaque(Arc::new(Address(parse(text)?)))),
        _ => Err(no_overload_of("ip", args)),
    }
}

fn is_ip(args: &[Value], parse: Parse) -> Result<Value, Halt> {
    match args {
        [Value::String(text)] => Ok(Value::Bool(parse(text).is_ok())),
        _ => Err(no_overload_of("isIP", args)),
    }
}

fn is_canonical(args: &[Value], parse: Parse) -> Result<Value, Halt> {
    match args {
        [Value::String(text)] => Ok(Value::Bool(parse(text)?.to_string() == **text)),
        _ => Err(no_overload_of("ip.isCanonical", args)),
    }
}

fn to_string(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let text = match args {
        [value] => address_of(value).map(|ip| ip.to_string()).or_else(|| prefix_of(value).map(Prefix::text)),
        _ => None,
    };
    text.map(Value::from).ok_or_else(|| no_overload_of("string", args))
}

fn family(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let ip = args.first().and_then(address_of).ok_or_else(|| no_overload_of("family", args))?;
    Ok(Value::Int(if ip.is_ipv4() { 4 } else { 6 }))
}

fn kind(name: &str, args: &[Value], test: fn(IpAddr) -> bool) -> Result<Value, Halt> {
    let ip = args.first().and_then(address_of).ok_or_else(|| no_overload_of(name, args))?;
    Ok(Value::Bool(test(ip)))
}

fn link_local_multicast(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => matches!(ip.octets(), [224, 0, 0, _]),
        IpAddr::V6(ip) => ip.segments().first().is_some_and(|s| s & 0xff0f == 0xff02),
    }
}

fn link_local_unicast(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_link_local(),
        IpAddr::V6(ip) => ip.segments().first().is_some_and(|s| s & 0xffc0 == 0xfe80),
    }
}

fn global_unicast(ip: IpAddr) -> bool {
    ip != IpAddr::V4(Ipv4Addr::BROADCAST)
        && !ip.is_unspecified()
        && !ip.is_loopback()
        && !ip.is_multicast()
        && !link_local_unicast(ip)
}

fn to_cidr(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [Value::String(text)] => Ok(Value::Opaque(Arc::new(parse_cidr(text)?))),
        _ => Err(no_overload_of("cidr", args)),
    }
}

fn is_cidr(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [Value::String(text)] => Ok(Value::Bool(parse_cidr(text).is_ok())),
        _ => Err(no_overload_of("isCIDR", args)),
    }
}

fn contains_ip(args: &[Value], parse: Parse) -> Result<Value, Halt> {
    let refused = || no_overload_of("containsIP", args);
    let [cidr, other] = args else { return Err(refused()) };
    let cidr = prefix_of(cidr).ok_or_else(refused)?;
    let ip = match other {
        // Upstream does not say what is wrong with the text.
        Value::String(text) => parse(text).map_err(|_| no_overload())?,
        other => address_of(other).ok_or_else(refused)?,
    };
    Ok(Value::Bool(cidr.contains(ip)))
}

fn contains_cidr(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let refused = || no_overload_of("containsCIDR", args);
    let [cidr, other] = args else { return Err(refused()) };
    let cidr = prefix_of(cidr).ok_or_else(refused)?;
    let parsed;
    let other = match other {
        Value::String(text) => {
            parsed = parse_cidr(text)?;
            &parsed
        }
        other => prefix_of(other).ok_or_else(refused)?,
    };
    Ok(Value::Bool(cidr.bits <= other.bits && cidr.contains(other.ip)))
}

fn prefix_ip(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let cidr = args.first().and_then(prefix_of).ok_or_else(|| no_overload_of("ip", args))?;
    Ok(Value::Opaque(Arc::new(Address(cidr.ip))))
}

fn prefix_length(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let cidr = args.first().and_then(prefix_of).ok_or_else(|| no_overload_of("prefixLength", args))?;
    Ok(Value::Int(cidr.bits.into()))
}

fn mask(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let cidr = args.first().and_then(prefix_of).ok_or_else(|| no_overload_of("masked", args))?;
    Ok(Value::Opaque(Arc::new(Prefix { ip: masked(cidr.ip, cidr.bits), bits: cidr.bits })))
}
