//! An environment: what expressions may name, and the road from text to program.
//!
//! Cheap to clone and to extend: libraries are shared, only variables differ between the expressions of a plan.
//!
//! Absent: how names are resolved (check), what functions do (library).
use std::{collections::HashMap, fmt, sync::Arc};

use crate::{
    ast::Ast,
    check::{self, Checked},
    library::{Function, Library, Overload, Validator},
    macros::MacroTable,
    parser::{self, Syntax},
    program::{self, Program},
    source::Issues,
    types::{Type, TypeProvider},
    value::Value,
};

/// Keyed by what libraries and whoever declares variables name; texts only look things up, so that a quick hash will do.
pub(crate) type Table<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// Libraries, variables, types and limits that expressions are compiled against.
#[derive(Clone)]
pub struct Env(Arc<Parts>);

/// Builds an [`Env`].
#[derive(Clone)]
pub struct EnvBuilder(Parts);

#[derive(Clone)]
struct Parts {
    tables: Arc<Tables>,
    /// By slot.
    variables: Vec<(Arc<str>, Type)>,
    slots: Table<Arc<str>, u32>,
    provider: Option<Arc<dyn TypeProvider>>,
    container: Arc<str>,
    options: Options,
}

/// What libraries brought. Shared by all environments that extend one another without adding a library.
#[derive(Clone, Default)]
struct Tables {
    functions: Table<Arc<str>, Function>,
    overloads: Table<&'static str, (Arc<str>, usize)>,
    constants: Table<Arc<str>, (Type, Value)>,
    macros: MacroTable,
    validators: Vec<(&'static str, Validator)>,
}

/// Where dialects of CEL differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) homogeneous_aggregates: bool,
    pub(crate) escaped_identifiers: bool,
    pub(crate) lenient: bool,
}

impl Env {
    /// An empty environment: not even `+`. Most want [`Env::standard`].
    pub fn builder() -> EnvBuilder {
        EnvBuilder(Parts {
            tables: Arc::default(),
            variables: vec![],
            slots: Table::default(),
            provider: None,
            container: "".into(),
            options: Options::default(),
        })
    }

    /// The standard library, macros, optionals.
    pub fn standard() -> EnvBuilder {
        Env::builder().library(crate::library::standard()).library(crate::library::optionals())
    }

    /// A builder that starts from this environment; libraries are shared, slots of variables stay.
    pub fn extend(&self) -> EnvBuilder {
        EnvBuilder(Parts::clone(&self.0))
    }

    /// The slot of a variable, for [`crate::eval::Activation`]. Slots count up in the order of declaration.
    pub fn slot(&self, variable: &str) -> Option<u32> {
        self.0.slots.get(variable).copied()
    }

    /// The type of a variable.
    pub fn variable(&self, name: &str) -> Option<&Type> {
        self.0.variables.get(self.slot(name)? as usize).map(|(_, ty)| ty)
    }

    /// The variables in the order of their slots.
    pub fn variables(&self) -> impl ExactSizeIterator<Item = (&str, &Type)> {
        self.0.variables.iter().map(|(name, ty)| (&**name, ty))
    }

    /// Text to tree.
    ///
    /// # Errors
    /// All syntax errors at once, or the limit of [`crate::limits`] that the text exceeds.
    pub fn parse(&self, text: &str) -> Result<Ast, Issues> {
        let Options { escaped_identifiers, .. } = self.0.options;
        parser::parse(text, Syntax { macros: &self.0.tables.macros, escaped_identifiers })
    }

    /// Tree to typed tree.
    ///
    /// # Errors
    /// All type errors at once; then all literals that functions cannot take (a malformed pattern).
    pub fn check(&self, ast: Ast) -> Result<Checked, Issues> {
        check::check(self, ast)
    }

    /// Text to typed tree.
    ///
    /// # Errors
    /// Those of [`Env::parse`], else those of [`Env::check`].
    pub fn compile(&self, text: &str) -> Result<Checked, Issues> {
        self.check(self.parse(text)?)
    }

    /// Typed tree to program: slots resolved, constants folded.
    ///
    /// # Errors
    /// A conversion of a constant that can only fail: `int('a')`.
    pub fn program(&self, checked: &Checked) -> Result<Program, Issues> {
        program::plan_checked(self, checked)
    }

    /// Unchecked tree to program: everything is dispatched by value (cel-spec's `disable_check`).
    ///
    /// # Errors
    /// As of [`Env::program`].
    pub fn program_unchecked(&self, ast: Ast) -> Result<Program, Issues> {
        program::plan_unchecked(self, ast)
    }

    /// A function by its full name.
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.0.tables.functions.get(name)
    }

    /// All functions, in no order.
    pub fn functions(&self) -> impl Iterator<Item = &Function> {
        self.0.tables.functions.values()
    }

    /// An overload by its id.
    pub fn overload(&self, id: &str) -> Option<&Overload> {
        self.function_and_overload(id).map(|(_, overload)| overload)
    }

    /// An overload by its id, with its function.
    pub(crate) fn function_and_overload(&self, id: &str) -> Option<(&Function, &Overload)> {
        let (name, index) = self.0.tables.overloads.get(id)?;
        let function = self.function(name)?;
        Some((function, function.overloads.get(*index)?))
    }

    /// A constant or type name of a library, by its full name.
    pub fn constant(&self, name: &str) -> Option<&(Type, Value)> {
        self.0.tables.constants.get(name)
    }

    /// All constants and type names, in no order.
    pub(crate) fn constants(&self) -> impl Iterator<Item = &Arc<str>> {
        self.0.tables.constants.keys()
    }

    /// Where object types' fields come from.
    pub fn provider(&self) -> Option<&dyn TypeProvider> {
        self.0.provider.as_deref()
    }

    /// The container that names are resolved in.
    pub fn container(&self) -> &str {
        &self.0.container
    }

    /// The numbers of arguments that macros of that name and form take.
    pub(crate) fn macro_arguments(&self, name: &str, receiver: bool) -> Vec<usize> {
        self.0.tables.macros.arguments(name, receiver)
    }

    pub(crate) fn macro_names(&self, receiver: bool) -> impl Iterator<Item = &'static str> {
        self.0.tables.macros.names(receiver)
    }

    /// The full names of functions and macros in a namespace: `lists.range`, `math.greatest`.
    pub(crate) fn dotted_functions(&self) -> impl Iterator<Item = &str> {
        let functions = self.functions().map(|f| &*f.name).filter(|name| name.contains('.') && !name.contains('@'));
        functions.chain(self.0.tables.macros.full_names())
    }

    pub(crate) fn options(&self) -> Options {
        self.0.options
    }

    pub(crate) fn validators(&self) -> &[(&'static str, Validator)] {
        &self.0.tables.validators
    }
}

impl fmt::Debug for Env {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Env")
            .field("variables", &self.0.variables)
            .field("functions", &self.0.tables.functions.len())
            .field("container", &self.0.container)
            .finish_non_exhaustive()
    }
}

impl EnvBuilder {
    /// Adds a library. A function that is there already gains the library's overloads; an overload that is there already,
    /// by its id, stays as it is.
    pub fn library(mut self, library: Library) -> EnvBuilder {
        let tables = Arc::make_mut(&mut self.0.tables);
        for function in library.functions {
            let known = tables
                .functions
                .entry(function.name.clone())
                .or_insert_with(|| Function { overloads: vec![], ..function.clone() });
            for overload in function.overloads {
                if let std::collections::hash_map::Entry::Vacant(new) = tables.overloads.entry(overload.id) {
                    new.insert((function.name.clone(), known.overloads.len()));
                    known.overloads.push(overload);
                }
            }
        }
        tables.constants.extend(library.constants.into_iter().map(|(name, ty, value)| (name, (ty, value))));
        for new in library.macros {
            tables.macros.add(new);
        }
        for (function, validator) in library.validators {
            // As of overloads, the first library's stays.
            if !tables.validators.iter().any(|(known, _)| *known == function) {
                tables.validators.push((function, validator));
            }
        }
        self
    }

    /// Declares a variable (a dotted name is allowed, as in cel-spec's container tests). Redeclaring replaces the type.
    pub fn variable(mut self, name: &str, ty: Type) -> EnvBuilder {
        if let Some(known) = self.0.slots.get(name).and_then(|slot| self.0.variables.get_mut(*slot as usize)) {
            known.1 = ty;
            return self;
        }
        let slot = u32::try_from(self.0.variables.len()).unwrap_or(u32::MAX);
        let name: Arc<str> = name.into();
        self.0.slots.insert(name.clone(), slot);
        self.0.variables.push((name, ty));
        self
    }

    /// Where object types' fields come from.
    pub fn provider(mut self, provider: Arc<dyn TypeProvider>) -> EnvBuilder {
        self.0.provider = Some(provider);
        self
    }

    /// The container that names are resolved in: `a.b`.
    pub fn container(mut self, container: &str) -> EnvBuilder {
        self.0.container = container.into();
        self
    }

    /// Whether the elements of a list literal, and the keys and the values of a map literal, must be of one type, as in
    /// Kubernetes. Otherwise a mixed literal's are `dyn`, as in the CEL specification.
    pub fn homogeneous_aggregates(mut self, required: bool) -> EnvBuilder {
        self.0.options.homogeneous_aggregates = required;
        self
    }

    /// Whether fields may be named in back-quotes: ``a.`b-c` ``. Kubernetes does not allow it.
    pub fn escaped_identifiers(mut self, allowed: bool) -> EnvBuilder {
        self.0.options.escaped_identifiers = allowed;
        self
    }

    /// Whether evaluation is as lenient as cel-go's, and so Kubernetes', where the CEL specification wants an error: of a map
    /// literal's repeated key the last value counts, and an optional step from what has no fields (`null.?a`) is absent.
    pub fn lenient(mut self, allowed: bool) -> EnvBuilder {
        self.0.options.lenient = allowed;
        self
    }

    /// The environment.
    pub fn build(self) -> Env {
        Env(Arc::new(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library;

    fn libraries() -> Vec<Library> {
        let mut all = library::kubernetes();
        all.extend(library::kro());
        all.extend([
            library::jsonpatch(),
            library::math(),
            library::network(),
            library::encoders(),
            library::bindings(),
            library::blocks(),
        ]);
        all
    }

    #[test]
    fn extending_shares_libraries_and_keeps_slots() {
        let base = Env::standard().variable("a", Type::Int).build();
        let extended = base.extend().variable("b", Type::String).variable("a", Type::Bool).build();
        assert!(Arc::ptr_eq(&base.0.tables, &extended.0.tables));
        assert_eq!((extended.slot("a"), extended.slot("b")), (Some(0), Some(1)));
        assert_eq!((base.variable("a"), extended.variable("a")), (Some(&Type::Int), Some(&Type::Bool)));
        assert_eq!(base.slot("b"), None);
    }

    /// An id that two functions claim would leave one of them without its overload.
    #[test]
    fn no_overload_is_lost_or_doubled() {
        let env = libraries().into_iter().fold(Env::builder(), EnvBuilder::library).build();
        for function in libraries().into_iter().flat_map(|library| library.functions) {
            for overload in &function.overloads {
                let (owner, found) = env.function_and_overload(overload.id).unwrap();
                assert_eq!(owner.name, function.name, "{}", overload.id);
                assert_eq!((&found.params, found.member), (&overload.params, overload.member), "{}", overload.id);
            }
        }
        for function in env.functions() {
            let mut signatures: Vec<_> =
                function.overloads.iter().map(|o| (o.member, format!("{:?}", o.params))).collect();
            signatures.sort();
            let all = signatures.len();
            signatures.dedup();
            assert_eq!(signatures.len(), all, "{} has two overloads of one signature", function.name);
        }
    }
}
