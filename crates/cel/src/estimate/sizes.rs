//! How large values can get, as schemas declare it: what a caller tells the estimator.
//!
//! Absent: schemas.

/// Knows what an expression's variables are declared to hold.
pub trait Sizes {
    /// The declaration of a variable, by its full name (`object`, `variables.bytes`); also asked about type names.
    fn variable(&self, name: &str) -> Option<&dyn Declared>;

    /// The declaration of an object type, for objects that are not found by their path (an element of `x.filter(...)`).
    /// Kubernetes has none, so without this it does not know how large a field of such an object can get.
    fn object(&self, name: &str) -> Option<&dyn Declared> {
        let _ = name;
        None
    }

    /// What is taken for the declaration of something without a name and its parts: Kubernetes takes the root of the schema.
    fn nameless(&self) -> Option<&dyn Declared> {
        None
    }
}

/// What a schema says about a value.
pub trait Declared {
    /// Bytes of a text, elements of a list or entries of a map, at most; 0 for what has no size.
    fn max_elements(&self) -> u64;

    /// The elements of a list, the values of a map.
    fn elements(&self) -> Option<&dyn Declared>;

    /// The keys of a map.
    fn keys(&self) -> Option<&dyn Declared>;

    /// A field of an object, by its CEL name.
    fn field(&self, name: &str) -> Option<&dyn Declared>;
}

/// Nothing is declared: what depends on the size of a variable can cost anything.
#[derive(Clone, Copy, Debug)]
pub struct NoSizes;

impl Sizes for NoSizes {
    fn variable(&self, _: &str) -> Option<&dyn Declared> {
        None
    }
}

/// Where a node's value is declared.
#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    /// It was computed: it has no path.
    Nameless,
    /// It has a path that no schema declares.
    Undeclared,
    /// There.
    At(&'a dyn Declared),
}

/// A step of a path.
#[derive(Clone, Copy)]
pub(super) enum Step<'a> {
    /// An element of a list or a value of a map.
    Element,
    /// A key of a map.
    Key,
    /// An index of a list.
    Index,
    /// A field.
    Field(&'a str),
}

impl<'a> Place<'a> {
    pub(super) fn of(declared: Option<&'a dyn Declared>) -> Place<'a> {
        declared.map_or(Place::Undeclared, Place::At)
    }

    /// One step on.
    pub(super) fn step(self, step: Step<'_>, sizes: &'a dyn Sizes) -> Place<'a> {
        match self {
            Place::Nameless => Place::of(sizes.nameless()),
            Place::Undeclared => Place::Undeclared,
            Place::At(declared) => Place::of(match step {
                Step::Element => declared.elements(),
                Step::Key => declared.keys(),
                Step::Index => None,
                Step::Field(name) => declared.field(name),
            }),
        }
    }
}
