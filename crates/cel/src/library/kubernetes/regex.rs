//! Kubernetes' `find` and `findAll`.
//!
//! Absent: patterns themselves (library::regex), `matches` (standard).
use std::sync::Arc;

use crate::{
    estimate::{
        Bounds, Guess,
        rule::{self, size},
    },
    eval::{Context, ErrorKind, Halt},
    library::{
        Cost, Effort, Library, Overload, Specialize,
        build::{invalid, method, no_overload, priced},
        cost::{self, Price},
        regex::{self, Pattern},
    },
    types::Type,
    value::Value,
};

/// The library.
pub(crate) fn library() -> Library {
    let price = Price::new(
        Cost::Args(|args| cost::matching(cost::size(args.first()), cost::size(args.get(1)))),
        |args| {
            let text = size(args, 0);
            Guess::cost(rule::matching(text, size(args, 1))).sized(Bounds::new(0, text.max))
        },
        "a tenth of the text's size times a quarter of the pattern's",
    );
    let texts = || Type::list(Type::String);
    let two = || vec![Type::String, Type::String];
    let three = || vec![Type::String, Type::String, Type::Int];
    let constant = |overload: Overload, specialize: Specialize| Overload { specialize: Some(specialize), ..overload };
    let functions = vec![
        priced(
            "find",
            price,
            vec![constant(
                method(
                    "string_find_string",
                    two(),
                    Type::String,
                    dynamic,
                    "The first part that the pattern matches, or the empty text.",
                    "'abc 123'.find('[0-9]+') == '123'",
                ),
                fixed,
            )],
        ),
        priced(
            "findAll",
            price,
            vec![
                constant(
                    method(
                        "string_find_all_string",
                        two(),
                        texts(),
                        dynamic_all,
                        "All parts that the pattern matches.",
                        "'1, 2'.findAll('[0-9]') == ['1', '2']",
                    ),
                    fixed_all,
                ),
                constant(
                    method(
                        "string_find_all_string_int",
                        three(),
                        texts(),
                        dynamic_all,
                        "At most as many parts, all if negative.",
                        "'1, 2'.findAll('[0-9]', 1) == ['1']",
                    ),
                    fixed_all,
                ),
            ],
        ),
    ];
    Library { name: "kubernetes.regex", functions, ..Library::default() }
}

fn compile(context: &mut Context<'_>, pattern: &Arc<str>) -> Result<Arc<Pattern>, Halt> {
    regex::compile(context, pattern).map_err(|halt| match halt {
        Halt::Error(error) if error.kind == ErrorKind::InvalidArgument => {
            invalid(format!("Illegal regex: {}", error.message))
        }
        halt => halt,
    })
}

fn dynamic(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [Value::String(_), Value::String(pattern)] => find(&*compile(context, pattern)?, context, args),
        _ => Err(no_overload()),
    }
}

fn dynamic_all(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [Value::String(_), Value::String(pattern)] | [Value::String(_), Value::String(pattern), Value::Int(_)] => {
            find_all(&*compile(context, pattern)?, context, args)
        }
        _ => Err(no_overload()),
    }
}

fn fixed(constants: &[Option<&Value>], effort: &mut Effort) -> Result<Option<crate::library::Specialized>, String> {
    specialized(constants, effort, find)
}

fn fixed_all(constants: &[Option<&Value>], effort: &mut Effort) -> Result<Option<crate::library::Specialized>, String> {
    specialized(constants, effort, find_all)
}

fn specialized(
    constants: &[Option<&Value>],
    effort: &mut Effort,
    code: fn(&Pattern, &mut Context<'_>, &[Value]) -> Result<Value, Halt>,
) -> Result<Option<crate::library::Specialized>, String> {
    let [_, Some(Value::String(pattern)), ..] = constants else { return Ok(None) };
    let regex = regex::compile_constant(pattern, effort)?;
    Ok(Some(Arc::new(move |context, args| code(&regex, context, args))))
}

fn find(regex: &Pattern, _: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let [Value::String(text), _] = args else { return Err(no_overload()) };
    Ok(regex.find(text).unwrap_or("").into())
}

fn find_all(regex: &Pattern, context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let (text, limit) = match args {
        [Value::String(text), _] => (text, -1),
        [Value::String(text), _, Value::Int(limit)] => (text, *limit),
        _ => return Err(no_overload()),
    };
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut parts: Vec<Value> = vec![];
    regex.find_each(text, limit, |found| {
        context.spend(regex.look_ahead(text.len() - found.start()) + size_of::<Value>() as u64)?;
        parts.extend(text.get(found.range()).map(Value::from));
        Ok(())
    })?;
    Ok(Value::List(parts.into()))
}
