//! `meta.k8s.io` Tables: what `kubectl get` prints.
//!
//! Absent: which columns Kubernetes' own kinds have (table/builtin).
pub mod builtin;
pub mod json_path;

use serde_json::{Map, Value, json};

use crate::{
    api::ephemeral_schema::ColumnType,
    server::{negotiate::TableVersion, table::json_path::JsonPath},
    storage::catalog,
};

/// One column.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its heading.
    pub name: String,
    /// `string`, `integer`, `number`, `boolean`, `date`
    pub ty: String,
    /// `name` for the column that identifies.
    pub format: String,
    /// What it tells.
    pub description: String,
    /// Above 0: only with `-o wide`.
    pub priority: i64,
    /// Where it comes from.
    pub cell: Cell,
}

/// Where the cells of a column come from.
#[derive(Clone, Debug)]
pub enum Cell {
    /// `metadata.name`
    Name,
    /// A field.
    Path(JsonPath),
    /// Code.
    Computed(fn(&Value) -> Value),
}

/// What the rows carry beside their cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Include {
    /// The object's metadata.
    #[default]
    Metadata,
    /// The whole object.
    Object,
    /// Nothing.
    None,
}

impl Include {
    /// Reads `?includeObject=`.
    pub fn parse(text: Option<&str>) -> Option<Include> {
        match text {
            None | Some("" | "Metadata") => Some(Include::Metadata),
            Some("Object") => Some(Include::Object),
            Some("None") => Some(Include::None),
            Some(_) => None,
        }
    }
}

impl Column {
    fn new(name: &str, ty: &str, priority: i64, cell: Cell) -> Column {
        let format = if matches!(cell, Cell::Name) { "name" } else { "" };
        Column {
            name: name.to_owned(),
            ty: ty.to_owned(),
            format: format.to_owned(),
            description: String::new(),
            priority,
            cell,
        }
    }

    /// A column of a custom resource; `None` if its path cannot be read.
    pub fn of(column: &catalog::Column) -> Option<Column> {
        let path = JsonPath::parse(&column.json_path)?;
        let ty = match column.kind {
            ColumnType::String => "string",
            ColumnType::Integer => "integer",
            ColumnType::Number => "number",
            ColumnType::Boolean => "boolean",
            ColumnType::Date => "date",
        };
        Some(Column {
            format: column.format.to_string(),
            description: column.description.to_string(),
            ..Column::new(&column.name, ty, column.priority.into(), Cell::Path(path))
        })
    }

    /// `NAME`
    pub fn name() -> Column {
        let description = "Name must be unique within a namespace.".to_owned();
        Column { description, ..Column::new("Name", "string", 0, Cell::Name) }
    }

    /// `AGE`
    pub fn age() -> Option<Column> {
        let path = JsonPath::parse(".metadata.creationTimestamp")?;
        let description = "CreationTimestamp is the time when this object was created.".to_owned();
        Some(Column { description, ..Column::new("Age", "date", 0, Cell::Path(path)) })
    }

    fn definition(&self) -> Value {
        // A date is printed by the server, so clients are told of a string for it as for CRDs: `date`.
        json!({
            "name": self.name,
            "type": self.ty,
            "format": self.format,
            "description": self.description,
            "priority": self.priority,
        })
    }

    fn value(&self, object: &Value, now: jiff::Timestamp) -> Value {
        match &self.cell {
            Cell::Name => object.pointer("/metadata/name").cloned().unwrap_or_else(|| "".into()),
            Cell::Computed(compute) => compute(object),
            Cell::Path(path) => match path.first(object) {
                // kubectl prints `<unknown>` for an absent age, `<none>` for other null cells.
                None | Some(Value::Null) if self.ty == "date" => "<unknown>".into(),
                None => Value::Null,
                Some(value) => typed(value, &self.ty, now),
            },
        }
    }
}

/// NAME and AGE: what every kind has.
pub fn default_columns() -> Vec<Column> {
    [Some(Column::name()), Column::age()].into_iter().flatten().collect()
}

/// A value as a cell of a type, as kube-apiserver converts those of custom resources.
fn typed(value: &Value, ty: &str, now: jiff::Timestamp) -> Value {
    match (ty, value) {
        ("integer", Value::Number(n)) => match n.as_f64() {
            #[expect(clippy::cast_possible_truncation, reason = "Go's int64(float64) truncates; here it saturates")]
            Some(f) if !n.is_i64() => (f as i64).into(),
            _ => value.clone(),
        },
        ("number", Value::Number(_)) | ("boolean", Value::Bool(_)) | ("string", Value::String(_)) => value.clone(),
        ("date", Value::String(text)) => match text.parse::<jiff::Timestamp>() {
            Ok(then) => human_duration(now.as_second() - then.as_second()).into(),
            Err(_) => "<invalid>".into(),
        },
        ("string", Value::Null) => Value::Null,
        ("string", other) => other.to_string().into(),
        _ => Value::Null,
    }
}

/// A duration as Kubernetes prints ages: `5s`, `2m30s`, `3h20m`, `4d`, `2y10d`.
pub fn human_duration(seconds: i64) -> String {
    const MINUTE: i64 = 60;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;
    const YEAR: i64 = 365 * DAY;
    let two = |big: i64, unit: &str, small: i64, small_unit: &str| {
        if small == 0 { format!("{big}{unit}") } else { format!("{big}{unit}{small}{small_unit}") }
    };
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        s if s < 2 * MINUTE => format!("{s}s"),
        s if s < 10 * MINUTE => two(s / MINUTE, "m", s % MINUTE, "s"),
        s if s < 3 * HOUR => format!("{}m", s / MINUTE),
        s if s < 8 * HOUR => two(s / HOUR, "h", s % HOUR / MINUTE, "m"),
        s if s < 2 * DAY => format!("{}h", s / HOUR),
        s if s < 8 * DAY => two(s / DAY, "d", s % DAY / HOUR, "h"),
        s if s < 2 * YEAR => format!("{}d", s / DAY),
        s if s < 8 * YEAR => two(s / YEAR, "y", s % YEAR / DAY, "d"),
        s => format!("{}y", s / YEAR),
    }
}

/// A Table of objects. `definitions` are left out of the later events of a watch, as Kubernetes leaves them out.
pub fn table(
    columns: &[Column],
    objects: &[Value],
    metadata: Value,
    include: Include,
    version: TableVersion,
    definitions: bool,
) -> Value {
    let now = jiff::Timestamp::now();
    let rows: Vec<_> = objects.iter().map(|object| row(columns, object, include, version, now)).collect();
    let definitions: Option<Vec<_>> = definitions.then(|| columns.iter().map(Column::definition).collect());
    json!({
        "kind": "Table",
        "apiVersion": version.api_version(),
        "metadata": metadata,
        "columnDefinitions": definitions,
        "rows": rows,
    })
}

fn row(columns: &[Column], object: &Value, include: Include, version: TableVersion, now: jiff::Timestamp) -> Value {
    let cells: Vec<_> = columns.iter().map(|c| c.value(object, now)).collect();
    let mut row = Map::from_iter([("cells".to_owned(), Value::Array(cells))]);
    match include {
        Include::None => {}
        Include::Object => {
            row.insert("object".to_owned(), object.clone());
        }
        Include::Metadata => {
            row.insert("object".to_owned(), partial(object, version));
        }
    }
    Value::Object(row)
}

/// The `PartialObjectMetadata` of an object.
pub fn partial(object: &Value, version: TableVersion) -> Value {
    let metadata = object.get("metadata").cloned().unwrap_or_else(|| json!({}));
    json!({"kind": "PartialObjectMetadata", "apiVersion": version.api_version(), "metadata": metadata})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_ages_as_kubernetes_does() {
        for (seconds, expected) in [
            (-5, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (150, "2m30s"),
            (600, "10m"),
            (10_799, "179m"),
            (10_800, "3h"),
            (12_000, "3h20m"),
            (28_800, "8h"),
            (172_799, "47h"),
            (172_800, "2d"),
            (180_000, "2d2h"),
            (8 * 86_400, "8d"),
            (730 * 86_400, "2y"),
            (740 * 86_400, "2y10d"),
            (3_000 * 86_400, "8y"),
        ] {
            assert_eq!(human_duration(seconds), expected, "{seconds}");
        }
    }

    #[test]
    fn cells_have_the_types_of_their_columns() {
        let now = "2026-01-01T00:01:00Z".parse().unwrap();
        assert_eq!(typed(&json!(1.5), "integer", now), json!(1));
        assert_eq!(typed(&json!(7), "integer", now), json!(7));
        assert_eq!(typed(&json!("7"), "integer", now), Value::Null);
        assert_eq!(typed(&json!({"a": 1}), "string", now), json!(r#"{"a":1}"#));
        assert_eq!(typed(&json!("2026-01-01T00:00:00Z"), "date", now), json!("60s"));
        assert_eq!(typed(&json!("soon"), "date", now), json!("<invalid>"));
    }

    #[test]
    fn rows_carry_what_is_asked() {
        let object = json!({"kind": "X", "metadata": {"name": "n", "labels": {"a": "b"}}, "spec": {}});
        let of = |include, definitions| {
            table(&default_columns(), std::slice::from_ref(&object), json!({}), include, TableVersion::V1, definitions)
        };
        assert_eq!(of(Include::None, true)["rows"], json!([{"cells": ["n", "<unknown>"]}]));
        assert_eq!(of(Include::Object, true)["rows"][0]["object"], object);
        assert_eq!(
            of(Include::Metadata, true)["rows"][0]["object"],
            json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": object["metadata"]})
        );
        assert_eq!(of(Include::None, true)["columnDefinitions"][0]["format"], "name");
        assert_eq!(of(Include::None, false)["columnDefinitions"], Value::Null);
    }
}
