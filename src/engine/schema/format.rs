//! `format`: the formats that Kubernetes knows; others are not checked.
