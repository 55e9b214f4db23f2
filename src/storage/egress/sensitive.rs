//! Text that nobody may read by accident: printing it in any form gives `[redacted]`.
//!
//! Absent: where the text comes from (secrets), serialization (there is none, on purpose).
use std::fmt;

/// A value that is only ever seen by the code that asks for it by [`Sensitive::expose`].
#[derive(Clone, PartialEq, Eq)]
pub struct Sensitive<T>(T);

impl<T> Sensitive<T> {
    /// Hides a value.
    pub fn new(value: T) -> Sensitive<T> {
        Sensitive(value)
    }

    /// The value. Whoever calls this answers for where it goes.
    pub fn expose(&self) -> &T {
        &self.0
    }
}

impl<T> fmt::Debug for Sensitive<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

impl<T> fmt::Display for Sensitive<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_form_of_printing_shows_it() {
        let secret = Sensitive::new("hunter2".to_owned());
        let held = Some(vec![secret.clone()]);
        let texts = [format!("{secret}"), format!("{secret:?}"), format!("{secret:#?}"), format!("{held:?}")];
        assert!(texts.iter().all(|text| text.contains("[redacted]") && !text.contains("hunter2")), "{texts:?}");
        assert_eq!(secret.expose(), "hunter2");
    }
}
