//! Parses flags and calls `cli`; nothing interesting.
use std::process::ExitCode;

/// A create makes and drops hundreds of small things, and its threads share them: glibc's allocator takes twice as long.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    celandine::cli::main()
}
