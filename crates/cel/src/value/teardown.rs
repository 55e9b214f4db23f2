//! Dropping nested containers without using the stack in proportion to their depth.
//!
//! A list's or map's storage is dropped by [`drop_items`] or [`drop_values`]: up to [`NESTED`] levels they recurse, which is what
//! the compiler would do; what is deeper waits in a queue that the outermost drop empties. So any value that can be made can be
//! dropped.
//!
//! Absent: what the storage looks like (list, map).
use std::cell::{Cell, RefCell};

use super::{Value, map::Entry};

/// Levels that drop by recursion. Each takes well under 1 KiB of stack, in debug builds too.
const NESTED: u32 = 64;

/// A container's storage that waits to be dropped.
pub(super) enum Items {
    Value(Value),
    Values(Vec<Value>),
    Entries(Vec<Entry>),
}

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static WAITING: RefCell<Vec<Items>> = const { RefCell::new(Vec::new()) };
}

/// Drops `items` now, or queues it where that would nest too deep.
pub(super) fn drop_items(items: Items) {
    let depth = DEPTH.get();
    if depth >= NESTED {
        wait(items);
        return;
    }
    DEPTH.set(depth + 1);
    items.release();
    if depth == 0 {
        while let Ok(Some(items)) = WAITING.try_with(|w| w.borrow_mut().pop()) {
            items.release();
        }
    }
    DEPTH.set(depth);
}

/// As [`drop_items`], of values whose storage cannot be taken: those that hold others become null.
pub(super) fn drop_values<'v>(values: impl Iterator<Item = &'v mut Value>) {
    for value in values.filter(|value| matches!(value, Value::List(_) | Value::Map(_) | Value::Optional(_))) {
        drop_items(Items::Value(std::mem::replace(value, Value::Null)));
    }
}

fn wait(items: Items) {
    // While a thread's storage is torn down there is no queue; recursion is then the only way.
    let mut items = Some(items);
    let _ = WAITING.try_with(|w| {
        if let Some(items) = items.take() {
            w.borrow_mut().push(items);
        }
    });
}

impl Items {
    fn release(self) {
        match self {
            Items::Value(value) => drop(value),
            // To find out that nothing is held takes longer by dropping than by looking.
            Items::Values(values) => values.into_iter().for_each(|value| match value {
                Value::Null | Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Double(_) => {
                    std::mem::forget(value)
                }
                value => drop(value),
            }),
            Items::Entries(entries) => drop(entries),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{Map, MapBuilder};

    #[test]
    fn a_million_levels_drop_on_a_small_stack() {
        std::thread::Builder::new()
            .stack_size(256 * 1024)
            .spawn(|| {
                let mut value = Value::Null;
                for level in 0..1_000_000 {
                    value = if level % 2 == 0 {
                        Value::from(vec![value])
                    } else {
                        let mut map = MapBuilder::default();
                        map.insert("k", value);
                        Value::Map(Map::from(map))
                    };
                }
                drop(value);
            })
            .unwrap()
            .join()
            .unwrap();
    }
}
