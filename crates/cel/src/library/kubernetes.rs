//! The map of Kubernetes' own libraries.
pub(crate) mod authorizer;
mod decimal;
mod format;
pub(crate) mod jsonpatch;
pub(crate) mod lists;
mod quantity;
mod regex;
mod semver;
mod url;

use super::{Library, comprehensions, lists as cel_lists, network, optional, sets, standard, strings};

/// The libraries of Kubernetes' base environment, as API servers configure it.
pub(crate) fn libraries() -> Vec<Library> {
    vec![
        standard::kubernetes(),
        optional::library(),
        strings::kubernetes(),
        cel_lists::library(),
        sets::library(),
        comprehensions::library(),
        lists::library(),
        regex::library(),
        url::library(),
        network::kubernetes(),
        quantity::library(),
        semver::library(),
        format::library(),
        authorizer::library(),
    ]
}
