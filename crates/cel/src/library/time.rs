//! Parts of timestamps and durations: `getHours()`, with a time zone where one is given.
//!
//! Zones are IANA names (from the bundled database, so that answers do not depend on the machine) and offsets `+05:30`.
//! `Local` is refused: what it means is the server's business. Without a zone, it is
//! UTC, whatever offset a timestamp was written with.
//!
//! Absent: reading and printing times (format::time).
use crate::{
    eval::{Context, Halt},
    format::time::civil,
    library::{
        Function, Implementation, Overload,
        build::{function, invalid, method, no_overload_of},
    },
    types::Type,
    value::{Timestamp, Value},
};

/// Broken-down local time.
struct Local {
    year: i64,
    month: i64,
    day: i64,
    day_of_year: i64,
    day_of_week: i64,
    second_of_day: i64,
    nanos: u32,
}

macro_rules! part {
    ($name:literal, |$local:ident| $value:expr) => {
        |_: &mut Context<'_>, args: &[Value]| {
            let $local = local($name, args)?;
            Ok(Value::Int($value))
        }
    };
    ($name:literal, |$local:ident| $value:expr, |$nanos:ident| $of_duration:expr) => {
        |_: &mut Context<'_>, args: &[Value]| {
            if let [Value::Duration($nanos)] = args {
                return Ok(Value::Int($of_duration));
            }
            let $local = local($name, args)?;
            Ok(Value::Int($value))
        }
    };
}

/// `getMilliseconds` as the specification has it: of a duration, those past its seconds.
pub(crate) const MILLISECONDS: Implementation =
    part!("getMilliseconds", |l| i64::from(l.nanos / 1_000_000), |d| d % 1_000_000_000 / 1_000_000);

/// `getMilliseconds` as cel-go and Kubernetes have it: of a duration, all of it.
pub(crate) const ALL_MILLISECONDS: Implementation =
    part!("getMilliseconds", |l| i64::from(l.nanos / 1_000_000), |d| d / 1_000_000);

/// The ten accessors.
pub(crate) fn functions(millis: Implementation) -> Vec<Function> {
    let hours: Implementation = part!("getHours", |l| l.second_of_day / 3600, |d| d / 3_600_000_000_000);
    let minutes: Implementation = part!("getMinutes", |l| l.second_of_day / 60 % 60, |d| d / 60_000_000_000);
    let seconds: Implementation = part!("getSeconds", |l| l.second_of_day % 60, |d| d / 1_000_000_000);
    vec![
        accessor(
            "getDate",
            ["timestamp_to_day_of_month_1_based", "timestamp_to_day_of_month_1_based_with_tz"],
            part!("getDate", |l| l.day),
            "The day of the month, from 1.",
            [
                "timestamp('2024-02-29T23:30:00Z').getDate() == 29",
                "timestamp('2024-02-29T23:30:00Z').getDate('+01:00') == 1",
            ],
        ),
        accessor(
            "getDayOfMonth",
            ["timestamp_to_day_of_month", "timestamp_to_day_of_month_with_tz"],
            part!("getDayOfMonth", |l| l.day - 1),
            "The day of the month, from 0.",
            [
                "timestamp('2024-02-29T23:30:00Z').getDayOfMonth() == 28",
                "timestamp('2024-02-29T23:30:00Z').getDayOfMonth('+01:00') == 0",
            ],
        ),
        accessor(
            "getDayOfWeek",
            ["timestamp_to_day_of_week", "timestamp_to_day_of_week_with_tz"],
            part!("getDayOfWeek", |l| l.day_of_week),
            "The day of the week, Sunday is 0.",
            [
                "timestamp('2024-02-29T23:30:00Z').getDayOfWeek() == 4",
                "timestamp('2024-02-29T23:30:00Z').getDayOfWeek('+01:00') == 5",
            ],
        ),
        accessor(
            "getDayOfYear",
            ["timestamp_to_day_of_year", "timestamp_to_day_of_year_with_tz"],
            part!("getDayOfYear", |l| l.day_of_year),
            "The day of the year, from 0.",
            [
                "timestamp('2024-02-29T23:30:00Z').getDayOfYear() == 59",
                "timestamp('2024-02-29T23:30:00Z').getDayOfYear('+01:00') == 60",
            ],
        ),
        accessor(
            "getFullYear",
            ["timestamp_to_year", "timestamp_to_year_with_tz"],
            part!("getFullYear", |l| l.year),
            "The year.",
            [
                "timestamp('2024-12-31T23:30:00Z').getFullYear() == 2024",
                "timestamp('2024-12-31T23:30:00Z').getFullYear('+01:00') == 2025",
            ],
        ),
        accessor(
            "getMonth",
            ["timestamp_to_month", "timestamp_to_month_with_tz"],
            part!("getMonth", |l| l.month - 1),
            "The month, from 0.",
            [
                "timestamp('2024-02-29T23:30:00Z').getMonth() == 1",
                "timestamp('2024-02-29T23:30:00Z').getMonth('+01:00') == 2",
            ],
        ),
        with_duration(
            accessor(
                "getHours",
                ["timestamp_to_hours", "timestamp_to_hours_with_tz"],
                hours,
                "The hour of the day.",
                [
                    "timestamp('2024-07-01T12:00:00Z').getHours() == 12",
                    "timestamp('2024-07-01T12:00:00Z').getHours('Europe/Berlin') == 14",
                ],
            ),
            method(
                "duration_to_hours",
                vec![Type::Duration],
                Type::Int,
                hours,
                "Whole hours.",
                "duration('90m').getHours() == 1",
            ),
        ),
        with_duration(
            accessor(
                "getMilliseconds",
                ["timestamp_to_milliseconds", "timestamp_to_milliseconds_with_tz"],
                millis,
                "The thousandths of the second.",
                [
                    "timestamp('2024-07-01T12:00:00.25Z').getMilliseconds() == 250",
                    "timestamp('2024-07-01T12:00:00.25Z').getMilliseconds('Europe/Berlin') == 250",
                ],
            ),
            method(
                "duration_to_milliseconds",
                vec![Type::Duration],
                Type::Int,
                millis,
                "Milliseconds: past the seconds, in Kubernetes all of them.",
                "duration('0.5s').getMilliseconds() == 500",
            ),
        ),
        with_duration(
            accessor(
                "getMinutes",
                ["timestamp_to_minutes", "timestamp_to_minutes_with_tz"],
                minutes,
                "The minute of the hour.",
                [
                    "timestamp('2024-07-01T12:34:00Z').getMinutes() == 34",
                    "timestamp('2024-07-01T12:34:00Z').getMinutes('Asia/Kolkata') == 4",
                ],
            ),
            method(
                "duration_to_minutes",
                vec![Type::Duration],
                Type::Int,
                minutes,
                "Whole minutes.",
                "duration('90s').getMinutes() == 1",
            ),
        ),
        with_duration(
            accessor(
                "getSeconds",
                ["timestamp_to_seconds", "timestamp_to_seconds_tz"],
                seconds,
                "The second of the minute.",
                [
                    "timestamp('2024-07-01T12:34:56Z').getSeconds() == 56",
                    "timestamp('2024-07-01T12:34:56Z').getSeconds('UTC') == 56",
                ],
            ),
            method(
                "duration_to_seconds",
                vec![Type::Duration],
                Type::Int,
                seconds,
                "Whole seconds.",
                "duration('1.5s').getSeconds() == 1",
            ),
        ),
    ]
}

fn accessor(
    name: &str,
    ids: [&'static str; 2],
    code: Implementation,
    doc: &'static str,
    examples: [&'static str; 2],
) -> Function {
    let [plain, zoned] = ids;
    let [example, zoned_example] = examples;
    function(
        name,
        vec![
            method(plain, vec![Type::Timestamp], Type::Int, code, doc, example),
            method(zoned, vec![Type::Timestamp, Type::String], Type::Int, code, doc, zoned_example),
        ],
    )
}

fn with_duration(mut function: Function, overload: Overload) -> Function {
    function.overloads.push(overload);
    function
}

fn local(function: &str, args: &[Value]) -> Result<Local, Halt> {
    let (timestamp, offset) = match args {
        [Value::Timestamp(t)] => (t, 0),
        [Value::Timestamp(t), Value::String(zone)] => (t, offset_at(t, zone)?),
        _ => return Err(no_overload_of(function, args)),
    };
    let seconds = timestamp.seconds.saturating_add(offset);
    let days = seconds.div_euclid(86_400);
    let (year, month, day, day_of_year) = civil(days);
    Ok(Local {
        year,
        month,
        day,
        day_of_year,
        // 1970-01-01 was a Thursday.
        day_of_week: (days + 4).rem_euclid(7),
        second_of_day: seconds.rem_euclid(86_400),
        nanos: timestamp.nanos,
    })
}

/// Seconds east of UTC in `zone` at `t`.
fn offset_at(t: &Timestamp, zone: &str) -> Result<i64, Halt> {
    if let Some((hours, minutes)) = zone.split_once(':') {
        return fixed(hours, minutes);
    }
    let unknown = || invalid(format!("unknown time zone {zone}"));
    match zone {
        "" | "UTC" => return Ok(0),
        "Local" => return Err(unknown()),
        _ => {}
    }
    if zone.contains("..") || zone.starts_with(['/', '\\']) {
        return Err(invalid("time: invalid location name"));
    }
    let found = jiff::tz::db().get(zone).map_err(|_| unknown())?;
    // The database finds names in any case; upstream does not.
    if found.iana_name() != Some(zone) {
        return Err(unknown());
    }
    // The last day of year 9999 is past what jiff has; its offset is that of the day before.
    let instant = jiff::Timestamp::from_second(t.seconds).unwrap_or(jiff::Timestamp::MAX);
    Ok(i64::from(found.to_offset(instant).seconds()))
}

/// `+05:30`, and as upstream `5:30` and `-0:5`.
fn fixed(hours: &str, minutes: &str) -> Result<i64, Halt> {
    let number = |text: &str| {
        text.parse::<i64>().map_err(|_| invalid(format!("strconv.Atoi: parsing {text:?}: invalid syntax")))
    };
    let (hour, minute) = (number(hours)?, number(minutes)?);
    let minute = if hours.starts_with('-') { -minute } else { minute };
    let seconds = hour.checked_mul(3600).zip(minute.checked_mul(60)).and_then(|(h, m)| h.checked_add(m));
    // Beyond this, local time would leave what a year of four digits can say.
    seconds.filter(|s| s.abs() <= 100 * 86_400).ok_or_else(|| invalid(format!("unknown time zone {hours}:{minutes}")))
}
