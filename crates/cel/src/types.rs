//! Types, and where an object type's fields come from.
//!
//! Absent: how expressions get their types (check), values.
use std::{fmt, sync::Arc};

/// The type of an expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// Checked at run time.
    Dyn,
    /// The type of a part that failed already; fits everywhere, so that one mistake is reported once.
    Error,
    /// `null_type`
    Null,
    /// `bool`
    Bool,
    /// `int`, 64 bits
    Int,
    /// `uint`, 64 bits
    Uint,
    /// `double`, 64 bits
    Double,
    /// `string`
    String,
    /// `bytes`
    Bytes,
    /// `google.protobuf.Timestamp`
    Timestamp,
    /// `google.protobuf.Duration`
    Duration,
    /// A scalar or null (protobuf's wrapper types, Kubernetes' nullable scalars).
    Wrapper(Arc<Type>),
    /// `list(T)`
    List(Arc<Type>),
    /// `map(K, V)`
    Map(Arc<(Type, Type)>),
    /// `optional_type(T)`
    Optional(Arc<Type>),
    /// `type(T)`
    Type(Arc<Type>),
    /// An object whose fields a [`TypeProvider`] knows. A value of it is a [`crate::value::Map`].
    Object(Arc<str>),
    /// A type of a library, by name, with parameters: `kubernetes.Quantity`, `net.IP`.
    Opaque(Arc<str>, Arc<[Type]>),
    /// A parameter of an overload's signature: `T`.
    Param(Arc<str>),
}

impl Type {
    /// `list(element)`
    pub fn list(element: Type) -> Type {
        Type::List(Arc::new(element))
    }
    /// `map(key, value)`
    pub fn map(key: Type, value: Type) -> Type {
        Type::Map(Arc::new((key, value)))
    }
    /// `optional_type(inner)`
    pub fn optional(inner: Type) -> Type {
        Type::Optional(Arc::new(inner))
    }
    /// `type(of)`
    pub fn type_of(of: Type) -> Type {
        Type::Type(Arc::new(of))
    }
    /// A signature's parameter.
    pub fn param(name: &str) -> Type {
        Type::Param(name.into())
    }
    /// A library's type without parameters.
    pub fn opaque(name: &str) -> Type {
        Type::Opaque(name.into(), Arc::new([]))
    }
}

/// As in check errors: `int`, `list(string)`, `timestamp`, `null`, an object's own name.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Dyn => f.write_str("dyn"),
            Type::Error => f.write_str("!error!"),
            Type::Null => f.write_str("null"),
            Type::Bool => f.write_str("bool"),
            Type::Int => f.write_str("int"),
            Type::Uint => f.write_str("uint"),
            Type::Double => f.write_str("double"),
            Type::String => f.write_str("string"),
            Type::Bytes => f.write_str("bytes"),
            Type::Timestamp => f.write_str("timestamp"),
            Type::Duration => f.write_str("duration"),
            Type::Wrapper(t) => write!(f, "wrapper({t})"),
            Type::List(t) => write!(f, "list({t})"),
            Type::Map(kv) => write!(f, "map({}, {})", kv.0, kv.1),
            Type::Optional(t) => write!(f, "optional_type({t})"),
            Type::Type(t) => write!(f, "type({t})"),
            Type::Object(name) | Type::Param(name) => f.write_str(name),
            Type::Opaque(name, params) if params.is_empty() => f.write_str(name),
            Type::Opaque(name, params) => {
                write!(f, "{name}(")?;
                for (i, p) in params.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{p}")?;
                }
                f.write_str(")")
            }
        }
    }
}

/// A field of an object type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its type.
    pub ty: Type,
    /// The key under which a value's map holds it; differs from the CEL name where that is escaped (`a__dot__b`).
    pub key: Arc<str>,
}

/// Knows object types. One is shared by every expression of a plan, so it must be cheap to ask.
pub trait TypeProvider: Send + Sync {
    /// The field of `Type::Object(object)` by its CEL name.
    fn field(&self, object: &str, name: &str) -> Option<Field>;

    /// The CEL names of all fields, for suggestions and struct literals.
    fn field_names(&self, object: &str) -> Vec<Arc<str>>;

    /// A type by its fully qualified name, where expressions may name it (struct literals, `type(x) == Name`).
    fn named_type(&self, name: &str) -> Option<Type>;
}
