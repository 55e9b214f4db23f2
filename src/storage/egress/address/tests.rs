//! Laws of the classifier.
