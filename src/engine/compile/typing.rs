//! Types: each expression is checked where it stands, against what its place wants, and planned.
//!
//! Absent: syntax (parsed), the order of nodes (order).
use std::{cell::RefCell, collections::BTreeSet, sync::Arc};

use cel::{
    Checked, Env, Type,
    check::AttributePath,
    estimate::{Estimate, Limits},
    library,
    limits::COST_PER_EXPRESSION,
    types::{Field, TypeProvider},
};

use crate::engine::{
    budget,
    compile::{
        diagnose, field_path,
        names::{self, Early},
        parsed::{Parsed, ParsedNode, ParsedValidation},
        sizes::{Known, Lookup, Size},
    },
    definition::Format,
    diagnostic::{Diagnostic, FieldPath, Place},
    language,
    limits::{ESTIMATED_OBJECTS, MAX_FOR_EACH_ITEMS},
    plan::{Call, Expression, Namespace, Node, Objects, Read, Source, Template, Validation, Work, all},
    schema::{
        Structural, sizes,
        types::{Dialect, Registry},
    },
};

/// What a place wants of its expression.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Want {
    Bool,
    String,
    /// What has one text: scalars, instants, spans of time.
    Scalar,
    /// A scalar; an absent optional leaves the parameter out.
    Parameter,
    List,
    /// Anything that JSON can say; an optional leaves the field out.
    Json,
    Anything,
}

/// Gives types to a projection's expressions, in dependency order.
pub(crate) struct Typist<'a> {
    env: Env,
    schema: Option<Arc<Structural>>,
    registry: Arc<Registry>,
    variables: Arc<Variables>,
    /// Of all but early validations.
    inputs: BTreeSet<AttributePath>,
    /// Of early validations.
    early_inputs: BTreeSet<AttributePath>,
    asks_authorizer: bool,
    /// The names that have their types.
    declared: BTreeSet<Arc<str>>,
    known: Known,
    /// How often the expressions at hand are evaluated, at most.
    times: u64,
    estimated_cost: u64,
    diagnostics: &'a mut Vec<Diagnostic>,
}

/// What typing leaves besides typed expressions.
pub(crate) struct Typed {
    /// Of everything.
    pub(crate) inputs: Vec<AttributePath>,
    /// Of all but early validations.
    pub(crate) answer_inputs: Vec<AttributePath>,
    pub(crate) asks_authorizer: bool,
    pub(crate) slots: usize,
    pub(crate) registry: Arc<Registry>,
    /// Of all expressions together.
    pub(crate) estimated_cost: u64,
}

/// The type of `variables` itself: it has no value, only its fields have (each a variable of its own); asked for fields when
/// one is misspelt.
struct Variables {
    registry: Arc<Registry>,
    names: Vec<Arc<str>>,
}

const VARIABLES: &str = "variables";

impl TypeProvider for Variables {
    fn field(&self, object: &str, name: &str) -> Option<Field> {
        // One whose name is missing, which is reported, may be the one that is asked for.
        if object == VARIABLES && self.names.iter().any(|name| name.is_empty()) {
            return Some(Field { ty: Type::Error, key: name.into() });
        }
        self.registry.field(object, name)
    }

    fn field_names(&self, object: &str) -> Vec<Arc<str>> {
        if object == VARIABLES { self.names.clone() } else { self.registry.field_names(object) }
    }

    fn named_type(&self, name: &str) -> Option<Type> {
        self.registry.named_type(name)
    }
}

impl<'a> Typist<'a> {
    /// Every name is declared from the start, so that a misspelt one finds its neighbours; what has no type yet fits
    /// everywhere.
    pub(crate) fn new(
        schema: Option<&Arc<Structural>>,
        nodes: &[ParsedNode],
        diagnostics: &'a mut Vec<Diagnostic>,
    ) -> Typist<'a> {
        let mut registry = Registry::builder(Dialect::Workspace);
        let object = schema.map_or(Type::Error, |schema| registry.add("object", schema));
        let request_schema = Arc::new(language::request());
        let request = registry.add("request", &request_schema);
        let mut known = Known::default();
        known.learn("object", schema.map(|schema| Size::Object(schema.clone())), Limits::Possible);
        known.learn("request", Some(Size::Schema(request_schema)), Limits::Usual);
        let registry = registry.build();
        let names = nodes.iter().filter_map(|node| node.name.strip_prefix("variables.")).map(Arc::from).collect();
        let variables = Arc::new(Variables { registry: registry.clone(), names });
        let mut env = language::base()
            .extend()
            .variable("object", object)
            .variable("request", request)
            .variable("authorizer", library::authorizer_type())
            .variable("authorizer.requestResource", library::request_resource_type())
            .variable(VARIABLES, Type::Object(VARIABLES.into()));
        // A name that is taken is reported, and goes on to mean what it meant.
        for node in nodes.iter().filter(|node| !names::is_taken(&node.name)) {
            env = env.variable(&node.name, Type::Error);
        }
        let env = env.provider(variables.clone()).build();
        Typist {
            env,
            schema: schema.cloned(),
            registry,
            variables,
            inputs: BTreeSet::new(),
            early_inputs: BTreeSet::new(),
            asks_authorizer: false,
            known,
            times: 1,
            estimated_cost: 0,
            declared: BTreeSet::new(),
            diagnostics,
        }
    }

    /// What all expressions together come to.
    pub(crate) fn finish(self) -> Typed {
        Typed {
            inputs: self.inputs.union(&self.early_inputs).cloned().collect(),
            answer_inputs: self.inputs.into_iter().collect(),
            asks_authorizer: self.asks_authorizer,
            slots: self.env.variables().len(),
            registry: self.registry,
            estimated_cost: self.estimated_cost,
        }
    }

    /// Types a node; whoever comes after it sees its type.
    pub(crate) fn node(&mut self, node: ParsedNode, reads: Vec<usize>) -> Option<Node> {
        let slot = self.env.slot(&node.name)?;
        // Of two of the same name the first counts; the second is reported.
        let counts = self.declared.insert(node.name.clone());
        let (work, ty) = match node.work? {
            Work::Variable(parsed) => {
                let (expression, estimate) = self.estimated(&self.env.clone(), parsed, Want::Anything)?;
                let ty = expression.ty.clone();
                self.known.learn(&node.name, Size::of_result(&ty, &estimate), Limits::Possible);
                (Work::Variable(expression), ty)
            }
            Work::Source(source) => {
                let schema = node.kind.as_deref().map(|kind| &kind.schema);
                let ty = match node.uncertain {
                    true => Type::Error,
                    false => self.source_type(&node.name, &source, schema),
                };
                let limits = match &source.read {
                    Read::Objects(_) => Limits::Usual,
                    Read::Call(_) => Limits::Possible,
                };
                self.known.learn(&node.name, source_size(&source, schema), limits);
                // The type is known even where an expression of the source is wrong.
                if counts {
                    self.declare(&node.name, ty.clone());
                }
                (Work::Source(Box::new(self.source(*source)?)), ty)
            }
        };
        if counts {
            self.declare(&node.name, ty);
        }
        Some(Node { name: node.name, slot, reads, work })
    }

    fn declare(&mut self, name: &str, ty: Type) {
        if names::is_taken(name) {
            return;
        }
        self.env = self.env.extend().variable(name, ty).build();
    }

    fn source_type(&mut self, name: &str, source: &Source<Parsed>, schema: Option<&Arc<Structural>>) -> Type {
        let read = match &source.read {
            Read::Objects(objects) => {
                let name = format!("{}.{}", objects.resource.api_version, objects.resource.kind);
                self.known.learn_stored(&name);
                schema.map_or(Type::Dyn, |schema| self.register(&name, schema))
            }
            Read::Call(call) => match &call.schema {
                Some(schema) => self.register(name, schema),
                None if call.format == Format::Text => Type::String,
                None => Type::Dyn,
            },
        };
        let read = if source.is_list() { Type::list(read) } else { read };
        let read = if source.optional { Type::optional(read) } else { read };
        let read = if source.for_each.is_empty() { read } else { Type::list(read) };
        if source.is_conditional() { Type::optional(read) } else { read }
    }

    fn register(&mut self, name: &str, schema: &Arc<Structural>) -> Type {
        let mut registry = self.registry.extend();
        let ty = registry.add(name, schema);
        self.registry = registry.build();
        self.variables = Arc::new(Variables { registry: self.registry.clone(), names: self.variables.names.clone() });
        self.env = self.env.extend().provider(self.variables.clone()).build();
        ty
    }

    fn source(&mut self, source: Source<Parsed>) -> Option<Source> {
        let env = self.env.clone();
        let include_when = all(source.include_when, |e| self.expression(&env, e, Want::Bool));
        let mut inner = env.extend();
        let (mut items, mut known) = (1u64, self.known.clone());
        let for_each = all(source.for_each, |(name, e)| {
            let expression = self.estimated(&env, e, Want::List);
            let element = match expression.as_ref().map(|(e, _)| &e.ty) {
                Some(Type::List(element)) => Type::clone(element),
                Some(_) => Type::Dyn,
                None => Type::Error,
            };
            // A name that is taken is reported, and goes on to mean what it meant.
            if !names::is_taken(&name) {
                inner = inner.clone().variable(&name, element);
            }
            let (expression, estimate) = expression?;
            items = items.saturating_mul(estimate.size.map_or(u64::MAX, |size| size.max));
            known.learn(&name, Size::of_element(&estimate), Limits::Possible);
            Some((name, expression))
        });
        let inner = inner.build();
        // Names of dimensions are seen within the source only.
        let outer = std::mem::replace(&mut self.known, known);
        self.times = items.min(MAX_FOR_EACH_ITEMS as u64);
        let read = match source.read {
            Read::Objects(objects) => self.objects(&inner, objects).map(Read::Objects),
            Read::Call(call) => self.call(&inner, *call).map(|call| Read::Call(Box::new(call))),
        };
        (self.known, self.times) = (outer, 1);
        Some(Source { include_when: include_when?, for_each: for_each?, optional: source.optional, read: read? })
    }

    fn objects(&mut self, env: &Env, objects: Objects<Parsed>) -> Option<Objects> {
        let Objects { resource, read_as, namespace, target } = objects;
        let namespace = match namespace {
            Namespace::All => Some(Namespace::All),
            Namespace::Own => {
                // No expression says so.
                let fields = vec!["metadata".into(), "namespace".into()];
                self.inputs.insert(AttributePath { variable: "object".into(), fields });
                Some(Namespace::Own)
            }
            Namespace::Template(text) => {
                text.map(&mut |e| self.expression(env, e, Want::String)).map(Namespace::Template)
            }
        };
        let target = target.map(&mut |e| self.expression(env, e, Want::String));
        Some(Objects { resource, read_as, namespace: namespace?, target: target? })
    }

    fn call(&mut self, env: &Env, call: Call<Parsed>) -> Option<Call> {
        let segments = all(call.segments, |text| text.map(&mut |e| self.expression(env, e, Want::Scalar)));
        let query = all(call.query, |(name, t)| Some((name, self.template(env, t, Want::Parameter, Want::Scalar)?)));
        let headers =
            all(call.headers, |(name, t)| Some((name, self.template(env, t, Want::Parameter, Want::Scalar)?)));
        let body = call.body.map(|body| self.template(env, body, Want::Json, Want::String));
        Some(Call {
            segments: segments?,
            query: query?,
            headers: headers?,
            body: match body {
                Some(typed) => Some(typed?),
                None => None,
            },
            policy: call.policy,
            method: call.method,
            origin: call.origin,
            format: call.format,
            pagination: call.pagination,
            ttl_seconds: call.ttl_seconds,
            select: call.select,
            schema: call.schema,
            path: call.path,
        })
    }

    /// Types a validation.
    pub(crate) fn validation(&mut self, parsed: ParsedValidation, early: &Early) -> Option<Validation> {
        let early =
            early.holds(&parsed.expression) && parsed.message_expression.as_ref().is_none_or(|e| early.holds(e));
        let env = self.env.clone();
        let others = std::mem::take(&mut self.inputs);
        let expression = self.expression(&env, parsed.expression, Want::Bool);
        let message_expression = parsed.message_expression.map(|e| self.expression(&env, e, Want::String));
        let own = std::mem::replace(&mut self.inputs, others);
        if early { &mut self.early_inputs } else { &mut self.inputs }.extend(own);
        let field = match &parsed.field_path {
            None => FieldPath::root(),
            Some(text) => match field_path::parse(text, self.schema.as_deref()) {
                Ok(field) => field,
                Err(error) => {
                    self.diagnostics.push(error.diagnostic(parsed.path.field("fieldPath")));
                    return None;
                }
            },
        };
        let (message, reason) = (parsed.message, parsed.reason);
        let message_expression = match message_expression {
            Some(typed) => Some(typed?),
            None => None,
        };
        Some(Validation { expression: expression?, message, message_expression, reason, field, early })
    }

    /// Types the template of `status`.
    pub(crate) fn status(&mut self, template: Template<Parsed>) -> Option<Template> {
        let env = self.env.clone();
        self.template(&env, template, Want::Json, Want::String)
    }

    fn template(&mut self, env: &Env, template: Template<Parsed>, whole: Want, text: Want) -> Option<Template> {
        let this = RefCell::new(self);
        template.map(&mut |e| this.borrow_mut().expression(env, e, whole), &mut |e| {
            this.borrow_mut().expression(env, e, text)
        })
    }

    fn expression(&mut self, env: &Env, parsed: Parsed, want: Want) -> Option<Expression> {
        self.estimated(env, parsed, want).map(|(expression, _)| expression)
    }

    fn estimated(&mut self, env: &Env, parsed: Parsed, want: Want) -> Option<(Expression, Estimate)> {
        let Parsed { ast, text, path, start } = parsed;
        let checked = match env.check(ast?) {
            Ok(checked) => checked,
            Err(issues) => {
                self.diagnostics.extend(diagnose(&issues, &path, start));
                return None;
            }
        };
        let whole = || Place::Within(start..start + text.len());
        let mut fine = self.whole_variables(&checked, &path, &whole());
        if let Some(problem) = wrong(want, checked.result_type()) {
            let (message, help) = problem;
            self.diagnostics.push(Diagnostic::error(path.clone(), message).at(whole()).help(help));
            fine = false;
        }
        let program = match env.program(&checked) {
            Ok(program) => program,
            Err(issues) => {
                self.diagnostics.extend(diagnose(&issues, &path, start));
                return None;
            }
        };
        for read in checked.attributes() {
            match &*read.variable {
                "object" | "request" => drop(self.inputs.insert(read)),
                "authorizer" | "authorizer.requestResource" => self.asks_authorizer = true,
                _ => {}
            }
        }
        let estimate = self.estimate(env, &checked, &path, whole());
        let ty = checked.result_type().clone();
        fine.then_some((Expression { program, text, path, ty }, estimate))
    }

    /// What an expression can cost; a warning if that is more than it may.
    fn estimate(&mut self, env: &Env, checked: &Checked, path: &FieldPath, place: Place) -> Estimate {
        let estimate = checked.estimate(env, &Lookup { known: &self.known, registry: &self.registry });
        let cost = estimate.cost.max;
        self.estimated_cost = self.estimated_cost.saturating_add(cost.saturating_mul(self.times));
        if let Some(excess) = budget::excess(cost, COST_PER_EXPRESSION) {
            self.diagnostics.push(Diagnostic::warning(path.clone(), excess).at(place).help(budget::REMEDY));
        }
        estimate
    }

    /// `variables` is not a value: only its fields have one.
    fn whole_variables(&mut self, checked: &Checked, path: &FieldPath, place: &Place) -> bool {
        let whole = checked.attributes().iter().any(|read| &*read.variable == VARIABLES);
        if whole {
            self.diagnostics.push(
                Diagnostic::error(path.clone(), "`variables` cannot be used as a whole")
                    .at(place.clone())
                    .help("name one: `variables.x`; a variable is always there, so that `has()` is not needed"),
            );
        }
        !whole
    }
}

/// How large a source's value can get.
fn source_size(source: &Source<Parsed>, kind: Option<&Arc<Structural>>) -> Option<Size> {
    let schema = match &source.read {
        Read::Objects(_) => kind,
        Read::Call(call) => call.schema.as_ref(),
    };
    let one = schema.filter(|schema| sizes::is_declared(schema)).map(|schema| Size::Schema(schema.clone()));
    let read = if source.is_list() { Some(Size::list(ESTIMATED_OBJECTS, one)) } else { one };
    if source.for_each.is_empty() { read } else { Some(Size::list(MAX_FOR_EACH_ITEMS as u64, read)) }
}

/// What is wrong with a type at a place, and the remedy.
fn wrong(want: Want, ty: &Type) -> Option<(String, String)> {
    let fits = match want {
        Want::Anything => true,
        Want::Json => return not_json(ty),
        Want::Bool => matches!(ty, Type::Bool | Type::Dyn | Type::Error),
        Want::String => matches!(ty, Type::String | Type::Dyn | Type::Error),
        Want::Scalar => is_scalar(ty),
        Want::Parameter => match ty {
            Type::Optional(inner) => is_scalar(inner),
            ty => is_scalar(ty),
        },
        Want::List => matches!(ty, Type::List(_) | Type::Dyn | Type::Error),
    };
    if fits {
        return None;
    }
    let (wanted, default) = match want {
        Want::Bool => ("a condition must be of type `bool`", "false"),
        Want::List => ("`forEach` goes over a list", "[]"),
        Want::Scalar | Want::Parameter => ("a string, number, bool or time is wanted here", "''"),
        _ => ("a string is wanted here", "''"),
    };
    let help = match ty {
        Type::Optional(_) => format!("say what it is when it is absent: `(...).orValue({default})`"),
        Type::Wrapper(_) => "it may be null: say what it is then".to_owned(),
        _ if want == Want::String && is_scalar(ty) => "convert it: `string(...)`".to_owned(),
        Type::Map(_) if want == Want::List => "take the keys: `m.map(k, k)`".to_owned(),
        _ if want == Want::List => "put it into one: `[...]`".to_owned(),
        _ if want == Want::Bool => "compare it with something".to_owned(),
        _ => "name a field or an element of it".to_owned(),
    };
    Some((format!("{wanted}, and this gives `{ty}`"), help))
}

fn is_scalar(ty: &Type) -> bool {
    use Type::{Bool, Double, Duration, Dyn, Error, Int, String, Timestamp, Uint};
    matches!(ty, Bool | Double | Duration | Dyn | Error | Int | String | Timestamp | Uint)
}

fn not_json(ty: &Type) -> Option<(String, String)> {
    match ty {
        Type::Type(_) => Some(("a type cannot be written as JSON".to_owned(), "write `string(type(...))`".to_owned())),
        Type::List(element) | Type::Optional(element) | Type::Wrapper(element) => not_json(element),
        Type::Map(entry) => match &entry.0 {
            Type::String | Type::Int | Type::Uint | Type::Bool | Type::Dyn | Type::Error | Type::Param(_) => {
                not_json(&entry.1)
            }
            key => Some((format!("keys of type `{key}` cannot be written as JSON"), "make them strings".to_owned())),
        },
        _ => None,
    }
}
