//! HTTP sources: the URL split, parameters, header fields and body parsed, the literal part checked against the policy.
//!
//! Absent: the final check of a URL (storage), what the answer means (evaluation).
use std::sync::Arc;

use cel::Value;

use crate::engine::{
    compile::parsed::{Parsed, Parser},
    definition::{Format, Http, Select},
    diagnostic::{Diagnostic, FieldPath, Place},
    header_fields,
    kinds::{Literal, Policies},
    plan::{Call, Template, Text, TextPart},
    schema::Structural,
    select,
    template::Part,
    url,
};

/// Methods of sources: those that can be made again. Others change something, which is what effects are for.
const METHODS: [&str; 4] = ["GET", "HEAD", "POST", "PUT"];

impl Parser<'_> {
    pub(super) fn call(&mut self, http: &Http, path: &FieldPath, policies: &dyn Policies) -> Option<Call<Parsed>> {
        let url = self.url(http, &path.field("url"));
        let query = path.field("query");
        let query: Vec<_> =
            http.query.iter().map(|(name, text)| (name.clone(), self.value(text, query.field(name)))).collect();
        let headers = path.field("headers");
        let headers: Vec<_> =
            http.headers.iter().filter_map(|(name, text)| self.header(name, text, &headers)).collect();
        let body = http.body.as_ref().map(|body| self.template(body, path.field("body"), 0));
        if !METHODS.contains(&&*http.method) {
            let message = format!("a source cannot use `{}`", http.method);
            self.report(Diagnostic::error(path.field("method"), message).help("one of `GET`, `HEAD`, `POST`, `PUT`"));
        }
        if body.is_some() && matches!(&*http.method, "GET" | "HEAD") {
            let message = format!("`{}` has no body", http.method);
            self.report(Diagnostic::error(path.field("body"), message).at(Place::Key).help("set `method: POST`"));
        }
        if http.pagination.is_some() && (http.format == Format::Text || &*http.method == "HEAD") {
            let message = "only JSON has pages";
            self.report(Diagnostic::error(path.field("pagination"), message).at(Place::Key).help("leave it out"));
        }
        let select = self.select(http, path);
        let schema = self.selected_schema(http, path);
        let (origin, segments) = url?;
        let literal: Vec<&str> = segments.iter().map_while(constant).collect();
        let checked = policies.check(&Literal {
            policy: &http.egress_policy,
            origin: &origin,
            method: &http.method,
            path: &format!("/{}", literal.join("/")),
            whole: literal.len() == segments.len(),
        });
        if let Err(refusal) = checked {
            let at = path.field(if refusal.of_policy { "egressPolicy" } else { "url" });
            self.report(Diagnostic::error(at, refusal.message).help(refusal.help));
        }
        Some(Call {
            policy: http.egress_policy.clone(),
            method: http.method.clone(),
            origin,
            segments,
            query,
            headers,
            body: match body {
                Some(body) => Some(body?),
                None => None,
            },
            format: http.format,
            pagination: http.pagination.clone(),
            ttl_seconds: http.ttl_seconds,
            select: select?,
            schema: schema?,
            path: path.clone(),
        })
    }

    fn url(&mut self, http: &Http, path: &FieldPath) -> Option<(url::Origin, Vec<Text<Parsed>>)> {
        let template = self.split(&http.url, path)?;
        match url::parse(template) {
            Ok(url) => {
                let segment = |parts: Vec<Part>| match parts.as_slice() {
                    [] => Text::Constant("".into()),
                    [Part::Text(text)] => Text::Constant(text.clone()),
                    _ => Text::Parts(self.parts(parts, path)),
                };
                Some((url.origin, url.segments.into_iter().map(segment).collect()))
            }
            Err(error) => {
                let place = error.place.map_or(Place::Value, Place::Within);
                self.report(Diagnostic::error(path.clone(), error.message).at(place).help(error.help));
                None
            }
        }
    }

    /// The value of a parameter or header field: a text, or a lone expression that may be absent.
    fn value(&mut self, text: &Arc<str>, path: FieldPath) -> Template<Parsed> {
        match self.text(text, &path) {
            Text::Constant(text) => Template::Constant(Value::String(text)),
            Text::Parts(parts) => match <[TextPart<Parsed>; 1]>::try_from(parts) {
                Ok([TextPart::Expression(expression)]) => Template::Expression(expression),
                Ok([part]) => Template::Text(Text::Parts(vec![part])),
                Err(parts) => Template::Text(Text::Parts(parts)),
            },
        }
    }

    fn header(&mut self, name: &Arc<str>, text: &Arc<str>, path: &FieldPath) -> Option<(Arc<str>, Template<Parsed>)> {
        let at = path.field(name);
        let lower = name.to_ascii_lowercase();
        let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        if lower.is_empty() || !lower.chars().all(token) {
            let message = format!("`{name}` is no header field");
            self.report(Diagnostic::error(at, message).at(Place::Key));
            return None;
        }
        if !header_fields::may_be_set(&lower) {
            let message = format!("`{name}` is not the author's to set");
            let help = "credentials belong to the EgressPolicy, framing to Celandine";
            self.report(Diagnostic::error(at, message).at(Place::Key).help(help));
            return None;
        }
        Some((lower.into(), self.value(text, at)))
    }

    /// `Some(None)`: the whole body.
    fn select(&mut self, http: &Http, path: &FieldPath) -> Option<Option<select::Selection>> {
        let Some(wanted) = &http.select else { return Some(None) };
        let field = match wanted {
            Select::One(_) => "select",
            Select::All(_) => "selectAll",
        };
        if http.format == Format::Text {
            let message = "nothing can be selected of a text";
            self.report(Diagnostic::error(path.field(field), message).help("leave it out, or expect JSON"));
            return None;
        }
        match select::parse(wanted) {
            Ok(selection) => Some(Some(selection)),
            Err(message) => {
                self.report(Diagnostic::error(path.field(field), message).help("`$.data.result[0].values`"));
                None
            }
        }
    }

    fn selected_schema(&mut self, http: &Http, path: &FieldPath) -> Option<Option<Arc<Structural>>> {
        let Some(schema) = &http.schema else { return Some(None) };
        let (schema, found) = Structural::from_openapi_part(schema, &path.field("schema"));
        self.diagnostics.extend(found);
        Some(Some(Arc::new(schema?)))
    }
}

fn constant(segment: &Text<Parsed>) -> Option<&str> {
    match segment {
        Text::Constant(text) => Some(text),
        Text::Parts(_) => None,
    }
}
