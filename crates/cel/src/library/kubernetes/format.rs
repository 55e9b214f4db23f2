//! Kubernetes' formats: `format.dns1123Label().validate('my-name')`.
//!
//! Absent: what the formats mean (formats).
mod formats;

use std::{any::Any, sync::Arc};

use formats::{FORMATS, Format};
pub(super) use formats::{dns1123_label, dns1123_subdomain};

use crate::{
    estimate::{Guess, rule::size},
    eval::{Context, Halt},
    library::{
        Cost, Function, Implementation, Library,
        build::{function, global, method, no_overload_of, priced},
        cost::{self, Price},
    },
    types::Type,
    value::{Opaque, Value},
};

const NAME: &str = "kubernetes.NamedFormat";

/// The library.
pub(crate) fn library() -> Library {
    let ty = || Type::opaque(NAME);
    let texts = Type::optional(Type::list(Type::String));
    let price = Price::new(
        Cost::Args(|args| match args.first().and_then(of) {
            Some(format) => cost::matching(cost::size(args.get(1)), format.length),
            None => 1,
        }),
        // Whichever format it is.
        |args| Guess::cost(size(args, 1).scaled(0.1).scaled(32.0)),
        "a tenth of the text's size times a quarter of the length of the format's pattern",
    );
    let mut functions: Vec<Function> = getters();
    functions.push(function(
        "format.named",
        vec![global(
            "format-named",
            vec![Type::String],
            Type::optional(ty()),
            named,
            "The format of that name, if there is one.",
            "format.named('uuid').hasValue()",
        )],
    ));
    functions.push(priced(
        "validate",
        price,
        vec![method(
            "format-validate",
            vec![ty(), Type::String],
            texts,
            validate,
            "What is wrong with the text, if something is.",
            "!format.uuid().validate('123e4567-e89b-12d3-a456-426614174000').hasValue()",
        )],
    ));
    Library { name: "kubernetes.format", functions, ..Library::default() }
}

macro_rules! getter {
    ($index:literal, $name:literal, $id:literal, $example:literal) => {{
        let code: Implementation = |_, _| Ok(FORMATS.get($index).map_or(Value::Null, made));
        function($name, vec![global($id, vec![], Type::opaque(NAME), code, "The format.", $example)])
    }};
}

/// In the order of [`FORMATS`].
fn getters() -> Vec<Function> {
    vec![
        getter!(
            0,
            "format.dns1123Label",
            "format-dns1123Label",
            "!format.dns1123Label().validate('my-name').hasValue()"
        ),
        getter!(
            1,
            "format.dns1123Subdomain",
            "format-dns1123Subdomain",
            "!format.dns1123Subdomain().validate('example.com').hasValue()"
        ),
        getter!(2, "format.dns1035Label", "format-dns1035Label", "format.dns1035Label().validate('9lives').hasValue()"),
        getter!(
            3,
            "format.qualifiedName",
            "format-qualifiedName",
            "!format.qualifiedName().validate('example.com/MyName').hasValue()"
        ),
        getter!(
            4,
            "format.dns1123LabelPrefix",
            "format-dns1123LabelPrefix",
            "!format.dns1123LabelPrefix().validate('my-').hasValue()"
        ),
        getter!(
            5,
            "format.dns1123SubdomainPrefix",
            "format-dns1123SubdomainPrefix",
            "!format.dns1123SubdomainPrefix().validate('my.x-').hasValue()"
        ),
        getter!(
            6,
            "format.dns1035LabelPrefix",
            "format-dns1035LabelPrefix",
            "!format.dns1035LabelPrefix().validate('my-').hasValue()"
        ),
        getter!(7, "format.labelValue", "format-labelValue", "!format.labelValue().validate('').hasValue()"),
        getter!(8, "format.uri", "format-uri", "!format.uri().validate('https://example.com').hasValue()"),
        getter!(9, "format.uuid", "format-uuid", "format.uuid().validate('x').hasValue()"),
        getter!(10, "format.byte", "format-byte", "!format.byte().validate('aGVsbG8=').hasValue()"),
        getter!(11, "format.date", "format-date", "!format.date().validate('2024-02-29').hasValue()"),
        getter!(
            12,
            "format.datetime",
            "format-datetime",
            "!format.datetime().validate('2024-02-29T00:00:00Z').hasValue()"
        ),
    ]
}

struct Named(&'static Format);

impl std::fmt::Debug for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "format.{}()", self.0.name)
    }
}

impl Opaque for Named {
    fn type_of(&self) -> Type {
        Type::opaque(NAME)
    }
    fn equals(&self, other: &dyn Opaque) -> bool {
        other.as_any().downcast_ref::<Named>().is_some_and(|other| self.0.name == other.0.name)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn made(format: &'static Format) -> Value {
    Value::Opaque(Arc::new(Named(format)))
}

fn of(value: &Value) -> Option<&'static Format> {
    if let Value::Opaque(opaque) = value { opaque.as_any().downcast_ref::<Named>().map(|named| named.0) } else { None }
}

fn named(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let [Value::String(name)] = args else { return Err(no_overload_of("format.named", args)) };
    Ok(FORMATS.iter().find(|format| format.name == &**name).map_or(Value::NONE, |format| Value::some(made(format))))
}

fn validate(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let refused = || no_overload_of("validate", args);
    let [format, Value::String(text)] = args else { return Err(refused()) };
    let issues = (of(format).ok_or_else(refused)?.check)(text);
    if issues.is_empty() {
        return Ok(Value::NONE);
    }
    Ok(Value::some(Value::List(issues.into_iter().map(Value::from).collect::<Vec<_>>().into())))
}
