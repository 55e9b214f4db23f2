//! Parses flags and calls `cli`; nothing interesting.
use std::process::ExitCode;

fn main() -> ExitCode {
    celandine::cli::main()
}
