//! How large values can get, as schemas declare it: what a caller tells the estimator.
//!
//! Absent: schemas.

/// Knows what an expression's variables are declared to hold.
pub trait Sizes {
    /// The declaration of a variable, by its full name (`object`, `variables.bytes`); also asked about type names.
    fn variable(&self, name: &str) -> Option<Declaration<'_>>;

    /// The declaration of an object type, for objects that are not found by their path: an element of `x.filter(...)`, what
    /// `x.?field` gives. Kubernetes has none, and does not know how large their fields can get.
    fn object(&self, name: &str) -> Option<Declaration<'_>> {
        let _ = name;
        None
    }

    /// Whether to know more than Kubernetes does, where it takes anything for possible: that numbers are short as text, and how
    /// large the elements of `x.map(...)` are. For who is not bound by its verdicts.
    fn is_precise(&self) -> bool {
        false
    }

    /// What is taken for the declaration of something without a name and its parts: Kubernetes takes the root of the schema.
    fn nameless(&self) -> Option<Declaration<'_>> {
        None
    }
}

/// Where a value is declared, and what is taken for limits that its schema does not set.
#[derive(Clone, Copy)]
pub struct Declaration<'a> {
    /// Its schema.
    pub schema: &'a dyn Declared,
    /// Of it and its parts.
    pub limits: Limits,
}

/// What is taken for limits that a schema does not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limits {
    /// What is possible, as Kubernetes counts.
    Possible,
    /// What is usual: for values that whoever writes the expression cannot bound.
    Usual,
}

/// What a schema says about a value.
pub trait Declared {
    /// Bytes of a text, elements of a list or entries of a map, at most; 0 for what has no size.
    fn max_elements(&self, limits: Limits) -> u64;

    /// The elements of a list, the values of a map.
    fn elements(&self) -> Option<&dyn Declared>;

    /// The keys of a map.
    fn keys(&self) -> Option<&dyn Declared>;

    /// A field of an object, by its CEL name.
    fn field(&self, name: &str) -> Option<&dyn Declared>;

    /// What is taken for limits from a field on, if it is other than here.
    fn field_limits(&self, name: &str) -> Option<Limits> {
        let _ = name;
        None
    }
}

/// Nothing is declared: what depends on the size of a variable can cost anything.
#[derive(Clone, Copy, Debug)]
pub struct NoSizes;

impl Sizes for NoSizes {
    fn variable(&self, _: &str) -> Option<Declaration<'_>> {
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
    At(Declaration<'a>),
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

impl<'a> Declaration<'a> {
    pub(super) fn field(self, name: &str) -> Option<Declaration<'a>> {
        let limits = self.schema.field_limits(name).unwrap_or(self.limits);
        self.schema.field(name).map(|schema| Declaration { schema, limits })
    }
}

impl<'a> Place<'a> {
    pub(super) fn of(declaration: Option<Declaration<'a>>) -> Place<'a> {
        declaration.map_or(Place::Undeclared, Place::At)
    }

    /// One step on.
    pub(super) fn step(self, step: Step<'_>, sizes: &'a dyn Sizes) -> Place<'a> {
        match self {
            Place::Nameless => Place::of(sizes.nameless()),
            Place::Undeclared => Place::Undeclared,
            Place::At(Declaration { schema, limits }) => {
                let part = match step {
                    Step::Element => schema.elements(),
                    Step::Key => schema.keys(),
                    Step::Index => None,
                    Step::Field(name) => return Place::of(Declaration { schema, limits }.field(name)),
                };
                Place::of(part.map(|schema| Declaration { schema, limits }))
            }
        }
    }
}
