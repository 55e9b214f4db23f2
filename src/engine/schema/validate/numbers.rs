//! Ranges of numbers.
use std::cmp::Ordering;

use cel::Value;

use super::{Errors, fieldless, invalid};
use crate::engine::schema::{Structural, field_error::go_float, structural::SchemaType, trail::Trail};

/// The format's range, `multipleOf`, `maximum`, `minimum`, in upstream's order.
pub(super) fn check(schema: &Structural, value: &Value, at: &Trail<'_>, errors: &mut Errors) {
    let validation = &schema.validation;
    if let Some(ty @ (SchemaType::Integer | SchemaType::Number)) = schema.ty
        && !in_range(ty, validation.format.as_deref(), value)
    {
        let kind = ty.as_str();
        let format = match validation.format.as_deref() {
            Some(format) => format!("with format {format}"),
            None => "(default format)".to_owned(),
        };
        errors.push(fieldless(&format!("Checked value must be of type {kind} {format} in {}", at.dotted())));
    }
    if let Some(factor) = validation.multiple_of.filter(|factor| !is_multiple(value, *factor)) {
        errors.push(invalid(at, value, format_args!("should be a multiple of {}", go_float(factor))));
    }
    if let Some(most) = validation.maximum {
        let exclusive = validation.exclusive_maximum;
        let fine = compare(value, most).is_some_and(|o| o.is_lt() || (!exclusive && o.is_eq()));
        if !fine {
            let or_equal = if exclusive { "" } else { " or equal to" };
            errors.push(invalid(at, value, format_args!("should be less than{or_equal} {}", go_float(most))));
        }
    }
    if let Some(least) = validation.minimum {
        let exclusive = validation.exclusive_minimum;
        let fine = compare(value, least).is_some_and(|o| o.is_gt() || (!exclusive && o.is_eq()));
        if !fine {
            let or_equal = if exclusive { "" } else { " or equal to" };
            errors.push(invalid(at, value, format_args!("should be greater than{or_equal} {}", go_float(least))));
        }
    }
}

fn compare(value: &Value, limit: f64) -> Option<Ordering> {
    value.compare(&Value::Double(limit)).ok()
}

fn number(value: &Value) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a ratio is compared within a tolerance")]
    match value {
        Value::Int(number) => *number as f64,
        Value::Uint(number) => *number as f64,
        Value::Double(number) => *number,
        _ => f64::NAN,
    }
}

/// Within the tolerance that upstream grants decimal fractions.
fn is_multiple(value: &Value, factor: f64) -> bool {
    if let Value::Int(number) = value
        && factor.fract() == 0.0
        && (1.0..9e15).contains(&factor)
    {
        #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
        return number % (factor as i64) == 0;
    }
    let ratio = number(value) / factor;
    (ratio - ratio.round()).abs() <= 1e-9 * ratio.abs().max(1.0)
}

fn in_range(ty: SchemaType, format: Option<&str>, value: &Value) -> bool {
    if ty == SchemaType::Number {
        return format != Some("float") && format != Some("float32") || number(value).abs() <= f64::from(f32::MAX);
    }
    let int: i128 = match value {
        Value::Int(number) => (*number).into(),
        Value::Uint(number) => (*number).into(),
        #[expect(clippy::cast_possible_truncation, reason = "casts of floats saturate")]
        Value::Double(number) if number.fract() == 0.0 => *number as i128,
        _ => return false,
    };
    match format {
        Some("int32") => i32::try_from(int).is_ok(),
        Some("uint32") => u32::try_from(int).is_ok(),
        Some("uint64") => u64::try_from(int).is_ok(),
        _ => i64::try_from(int).is_ok(),
    }
}
