//! Lists that are sets or maps.
