//! Text forms of numbers, times and values: how they are printed and read, as strictly as upstream (Go) does.
//!
//! Absent: functions of the language (library), JSON (json).
pub(crate) mod number;
pub(crate) mod time;
