//! `format`: the formats of strings that Kubernetes knows (kube-openapi's strfmt); others are not checked.
//!
//! Absent: formats of numbers, which are ranges (validate).
mod instant;
mod text;

pub use instant::{date, date_time, duration};
pub use text::bytes;

/// Whether a string is of a format; a format that is not known takes everything.
pub fn is_valid(format: &str, value: &str) -> bool {
    match format {
        "date-time" | "datetime" => instant::is_date_time(value),
        "date" => date(value).is_some(),
        "duration" => duration(value).is_some(),
        "byte" => bytes(value).is_some(),
        "uuid" => text::uuid(value, None),
        "uuid3" => text::uuid(value, Some(b'3')),
        "uuid4" => text::uuid(value, Some(b'4')),
        "uuid5" => text::uuid(value, Some(b'5')),
        "uri" => text::uri(value),
        "email" => text::email(value),
        "hostname" => text::hostname(value),
        "ipv4" => value.parse::<core::net::Ipv4Addr>().is_ok(),
        "ipv6" => value.contains(':') && value.parse::<core::net::IpAddr>().is_ok(),
        "cidr" => text::cidr(value),
        "mac" => text::mac(value),
        "bsonobjectid" => value.len() == 24 && text::hex(value),
        "isbn" => text::isbn10(value) || text::isbn13(value),
        "isbn10" => text::isbn10(value),
        "isbn13" => text::isbn13(value),
        "creditcard" => text::credit_card(value),
        "ssn" => text::ssn(value),
        "hexcolor" => text::hex_color(value),
        "rgbcolor" => text::rgb_color(value),
        "k8s-short-name" => text::label(value),
        "k8s-long-name" => !value.is_empty() && value.len() <= 253 && value.split('.').all(text::label_part),
        _ => true,
    }
}

/// The formats that are checked, for suggestions.
pub const KNOWN: [&str; 31] = [
    "date-time",
    "date",
    "duration",
    "byte",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
    "uri",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "cidr",
    "mac",
    "bsonobjectid",
    "isbn",
    "isbn10",
    "isbn13",
    "creditcard",
    "ssn",
    "hexcolor",
    "rgbcolor",
    "password",
    "int32",
    "int64",
    "float",
    "double",
    "datetime",
    "k8s-short-name",
    "k8s-long-name",
];

#[cfg(test)]
mod tests {
    use super::{date_time, duration, is_valid};

    #[test]
    fn formats() {
        let cases: &[(&str, &[&str], &[&str])] = &[
            (
                "date-time",
                &["2024-05-06T07:08:09Z", "2024-05-06t07:08:09.5z", "2024-05-06T07:08:09+02:00"],
                &[
                    "yesterday",
                    "2024-05-06 07:08:09Z",
                    "2024-05-06T07:08:09",
                    "2024-13-06T07:08:09Z",
                    "2024-05-06T24:08:09Z",
                    "",
                ],
            ),
            ("date", &["2024-02-29"], &["2023-02-29", "2024-2-9", "20240229", "x"]),
            (
                "duration",
                &["1h", "1m30s", "1.5h", "-2s", "0", "3 days", "1w2d3h", "10 Minutes"],
                &["", "x", "1", "3 parsecs", "1h x"],
            ),
            ("byte", &["aGVsbG8=", ""], &["!", "aGVsbG8", "aGVs\nbG8="]),
            (
                "uuid",
                &["123e4567-e89b-12d3-a456-426614174000", "123E4567E89B12D3A456426614174000"],
                &["123e4567", "g23e4567-e89b-12d3-a456-426614174000"],
            ),
            ("uuid4", &["123e4567-e89b-42d3-a456-426614174000"], &["123e4567-e89b-12d3-a456-426614174000"]),
            ("uri", &["https://a.b/c?d=e", "/path", "urn:x:y"], &["", "no uri", "a/b"]),
            ("email", &["a@b.c", "Jane <jane@example.org>", "x+y@z"], &["a", "a@", "@b", "a@b@c", "a b@c"]),
            ("hostname", &["a", "a-b.example.org", "1.example.com"], &["", "-a", "a-", "a..b", "a_b"]),
            ("ipv4", &["10.0.0.1"], &["10.0.0.256", "::1", "10.0.0"]),
            ("ipv6", &["::1", "2001:db8::1"], &["10.0.0.1", "::g"]),
            ("cidr", &["10.0.0.0/8", "::/0"], &["10.0.0.0", "10.0.0.0/33", "10.0.0.0/08"]),
            ("mac", &["01:23:45:67:89:ab", "0123.4567.89ab"], &["01:23", "01:23:45:67:89:zz"]),
            ("isbn10", &["0-306-40615-2"], &["0-306-40615-3"]),
            ("isbn13", &["978-0-306-40615-7"], &["978-0-306-40615-8"]),
            ("creditcard", &["4111 1111 1111 1111"], &["4111 1111 1111 1112"]),
            ("ssn", &["123-45-6789"], &["123456"]),
            ("hexcolor", &["#fff", "#A0B1C2", "fff"], &["#ffff", "#ggg"]),
            ("rgbcolor", &["rgb(1,2,3)", "rgb( 255 , 0 , 0 )"], &["rgb(256,0,0)", "1,2,3"]),
            ("k8s-short-name", &["a-b"], &["a.b", "A", ""]),
            ("k8s-long-name", &["a.b-c"], &["A.b", "a..b"]),
            ("unheard-of", &["anything"], &[]),
        ];
        for (format, good, bad) in cases {
            for value in *good {
                assert!(is_valid(format, value), "{format}: {value:?}");
            }
            for value in *bad {
                assert!(!is_valid(format, value), "{format}: {value:?}");
            }
        }
    }

    #[test]
    fn what_strings_mean() {
        let at = date_time("1970-01-02T00:00:01.5+01:00").unwrap();
        assert_eq!((at.seconds, at.nanos, at.offset_minutes), (86_400 + 1 - 3_600, 500_000_000, 60));
        assert_eq!(date_time("2024-05-06T07:08:09").map(|t| t.seconds), Some(1_714_979_289));
        let durations = [
            ("1m30s", 90_000_000_000),
            ("3 days", 259_200_000_000_000),
            ("1w2d3h", 788_400_000_000_000),
            ("-1.5s", -1_500_000_000),
        ];
        for (text, nanos) in durations {
            assert_eq!(duration(text), Some(nanos), "{text}");
        }
        for endless in ["9999999999999h", "99999999999999999999 weeks"] {
            assert_eq!(duration(endless), None, "{endless}");
        }
    }
}
