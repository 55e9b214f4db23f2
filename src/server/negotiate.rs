//! Content negotiation: which form of an answer an `Accept` header asks for, which form a `Content-Type` says a body has.
//!
//! Absent: writing and reading the forms.

/// One media range of an `Accept` header.
#[derive(Clone, Debug, PartialEq)]
pub struct MediaRange<'a> {
    /// `application`
    pub main: &'a str,
    /// `json`
    pub sub: &'a str,
    /// Parameters without `q`, in order, unquoted.
    pub parameters: Vec<(&'a str, &'a str)>,
    quality: f32,
}

/// How the bytes of an answer are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// `application/json`
    #[default]
    Json,
    /// The same, indented: `?pretty=true`.
    PrettyJson,
    /// `application/yaml`
    Yaml,
}

/// What is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// The object or list itself.
    #[default]
    Object,
    /// `as=Table;v=v1;g=meta.k8s.io` (or `v1beta1`).
    Table(TableVersion),
    /// `as=PartialObjectMetadata` or `as=PartialObjectMetadataList`.
    Metadata(TableVersion),
}

/// The versions of `meta.k8s.io`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableVersion {
    /// `v1`
    V1,
    /// `v1beta1`
    V1Beta1,
}

impl TableVersion {
    /// `meta.k8s.io/v1`
    pub fn api_version(self) -> &'static str {
        match self {
            TableVersion::V1 => "meta.k8s.io/v1",
            TableVersion::V1Beta1 => "meta.k8s.io/v1beta1",
        }
    }
}

/// The forms of discovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discovery {
    /// One document per group and version.
    Legacy,
    /// `apidiscovery.k8s.io/v2`
    V2,
    /// `apidiscovery.k8s.io/v2beta1`
    V2Beta1,
}

/// What the client asks of an answer about objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// How.
    pub encoding: Encoding,
    /// What.
    pub form: Form,
}

/// Most media ranges that are looked at.
const MAX_RANGES: usize = 64;

/// What is served of the most wanted range of an `Accept` header (the first among equals); quality 0 is not wanted.
fn accepted<T>(header: &str, served: impl Fn(&MediaRange<'_>) -> Option<T>) -> Option<T> {
    let ranges = split_quoted(header, ',').take(MAX_RANGES).filter_map(range).filter(|range| range.quality > 0.0);
    let served = ranges.filter_map(|range| Some((range.quality, served(&range)?)));
    served.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, served)| served)
}

fn range(text: &str) -> Option<MediaRange<'_>> {
    let mut parts = split_quoted(text, ';').map(str::trim);
    let (main, sub) = parts.next()?.split_once('/')?;
    let mut range = MediaRange { main: main.trim(), sub: sub.trim(), parameters: Vec::new(), quality: 1.0 };
    for (key, value) in parts.filter_map(|p| p.split_once('=')) {
        let value = value.trim().trim_matches('"');
        if key.trim().eq_ignore_ascii_case("q") {
            range.quality = value.parse().ok().filter(|q: &f32| (0.0..=1.0).contains(q)).unwrap_or(1.0);
        } else {
            range.parameters.push((key.trim(), value));
        }
    }
    Some(range)
}

fn split_quoted(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    text.split(move |c| {
        quoted ^= c == '"';
        c == separator && !quoted
    })
    .filter(|s| !s.trim().is_empty())
}

impl MediaRange<'_> {
    fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(k, _)| *k == name).map(|(_, v)| *v)
    }

    fn matches(&self, main: &str, sub: &str) -> bool {
        (self.main == "*" || self.main.eq_ignore_ascii_case(main))
            && (self.sub == "*" || self.sub.eq_ignore_ascii_case(sub))
    }

    fn encoding(&self) -> Option<Encoding> {
        if self.matches("application", "json") {
            Some(Encoding::Json)
        } else if self.matches("application", "yaml") {
            Some(Encoding::Yaml)
        } else {
            None
        }
    }

    fn form(&self) -> Option<Form> {
        let version = match (self.parameter("g"), self.parameter("v")) {
            (Some("meta.k8s.io"), Some("v1")) => TableVersion::V1,
            (Some("meta.k8s.io"), Some("v1beta1")) => TableVersion::V1Beta1,
            _ if self.parameter("as").is_none() => return Some(Form::Object),
            _ => return None,
        };
        match self.parameter("as") {
            Some("Table") => Some(Form::Table(version)),
            Some("PartialObjectMetadata" | "PartialObjectMetadataList") => Some(Form::Metadata(version)),
            None => Some(Form::Object),
            Some(_) => None,
        }
    }
}

/// The first form asked for that is served; no header asks for JSON. `None`: 406.
pub fn objects(header: Option<&str>) -> Option<Wanted> {
    let Some(header) = header.filter(|h| !h.trim().is_empty()) else { return Some(Wanted::default()) };
    accepted(header, |r| Some(Wanted { encoding: r.encoding()?, form: r.form()? }))
}

/// The first form of discovery asked for.
pub fn discovery(header: Option<&str>) -> Option<(Discovery, Encoding)> {
    let Some(header) = header.filter(|h| !h.trim().is_empty()) else {
        return Some((Discovery::Legacy, Encoding::Json));
    };
    accepted(header, |r| {
        let encoding = r.encoding()?;
        match (r.parameter("g"), r.parameter("v"), r.parameter("as")) {
            (Some("apidiscovery.k8s.io"), Some("v2"), Some("APIGroupDiscoveryList")) => Some((Discovery::V2, encoding)),
            (Some("apidiscovery.k8s.io"), Some("v2beta1"), Some("APIGroupDiscoveryList")) => {
                Some((Discovery::V2Beta1, encoding))
            }
            (_, _, None) => Some((Discovery::Legacy, encoding)),
            _ => None,
        }
    })
}

/// The forms of OpenAPI v2 and v3 documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenApi {
    /// JSON.
    Json,
    /// `application/com.github.proto-openapi.spec.v2...+protobuf`
    Protobuf,
}

/// The first form of an OpenAPI document asked for, among JSON and (for v2) protobuf.
pub fn openapi(header: Option<&str>, protobuf: bool) -> Option<OpenApi> {
    let Some(header) = header.filter(|h| !h.trim().is_empty()) else { return Some(OpenApi::Json) };
    accepted(header, |r| {
        // kubectl spells the subtype with `@v1.0` up to 1.26 and `.v1.0` later.
        if r.matches("application", "json") {
            Some(OpenApi::Json)
        } else if protobuf && r.sub.starts_with("com.github.proto-openapi.spec.v2") && r.sub.ends_with("+protobuf") {
            Some(OpenApi::Protobuf)
        } else {
            None
        }
    })
}

/// How the bytes of a request are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Media {
    /// `application/json`, or nothing said.
    Json,
    /// `application/yaml`
    Yaml,
    /// `application/vnd.kubernetes.protobuf`: only the reviews that kubectl posts.
    Protobuf,
    /// Anything else: 415.
    Unknown,
}

/// Reads a `Content-Type`.
pub fn content_type(header: Option<&str>) -> Media {
    let Some(header) = header.filter(|h| !h.trim().is_empty()) else { return Media::Json };
    let essence = header.split(';').next().unwrap_or_default().trim();
    let known = [
        ("application/json", Media::Json),
        ("application/yaml", Media::Yaml),
        ("application/vnd.kubernetes.protobuf", Media::Protobuf),
    ];
    let known = known.into_iter().find(|(name, _)| essence.eq_ignore_ascii_case(name));
    known.map_or(Media::Unknown, |(_, media)| media)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negotiates_objects() {
        let table = Form::Table(TableVersion::V1);
        let json = |form| Some(Wanted { encoding: Encoding::Json, form });
        assert_eq!(objects(None), json(Form::Object));
        assert_eq!(objects(Some("*/*")), json(Form::Object));
        assert_eq!(objects(Some("application/*")), json(Form::Object));
        let kubectl = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";
        assert_eq!(objects(Some(kubectl)), json(table));
        assert_eq!(
            objects(Some(
                "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1, application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
            )),
            json(Form::Metadata(TableVersion::V1))
        );
        assert_eq!(
            objects(Some("application/json;as=Chair;g=meta.k8s.io;v=v1,application/json;q=0.5")),
            json(Form::Object)
        );
        assert_eq!(objects(Some("application/yaml")).unwrap().encoding, Encoding::Yaml);
        assert_eq!(objects(Some("application/json;q=0.1,application/yaml;q=0.9")).unwrap().encoding, Encoding::Yaml);
        assert_eq!(objects(Some("application/vnd.kubernetes.protobuf")), None);
        assert_eq!(objects(Some("application/json;q=0")), None);
        assert_eq!(objects(Some("application/vnd.kubernetes.protobuf,application/json")), json(Form::Object));
    }

    #[test]
    fn negotiates_discovery() {
        let all = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
        assert_eq!(discovery(Some(all)), Some((Discovery::V2, Encoding::Json)));
        let old = "application/json;as=APIGroupDiscoveryList;v=v2beta1;g=apidiscovery.k8s.io,application/json";
        assert_eq!(discovery(Some(old)), Some((Discovery::V2Beta1, Encoding::Json)));
        assert_eq!(discovery(Some("application/json")), Some((Discovery::Legacy, Encoding::Json)));
        assert_eq!(discovery(Some("text/html")), None);
        assert_eq!(discovery(Some("application/json;g=x;v=v9;as=APIGroupDiscoveryList")), None);
    }

    #[test]
    fn negotiates_openapi() {
        let old = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
        let new = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
        assert_eq!(openapi(Some(old), true), Some(OpenApi::Protobuf));
        assert_eq!(openapi(Some(new), true), Some(OpenApi::Protobuf));
        assert_eq!(openapi(Some(new), false), None);
        assert_eq!(openapi(Some("application/json, */*"), true), Some(OpenApi::Json));
    }

    #[test]
    fn reads_content_types() {
        assert_eq!(content_type(None), Media::Json);
        assert_eq!(content_type(Some("application/json; charset=utf-8")), Media::Json);
        assert_eq!(content_type(Some("application/vnd.kubernetes.protobuf")), Media::Protobuf);
        assert_eq!(content_type(Some("text/plain")), Media::Unknown);
    }
}
