//! The command under test, which runs in the emulator that `BLOSC2_TEST_RUNNER` names, if it is set.

#![allow(dead_code, reason = "each test file uses a part")]

use std::ffi::OsString;
use std::process::Command;

/// The program and its first arguments.
pub(crate) fn blosc2_words() -> Vec<OsString> {
    let runner = std::env::var_os("BLOSC2_TEST_RUNNER").filter(|runner| !runner.is_empty());
    runner.into_iter().chain([env!("CARGO_BIN_EXE_blosc2").into()]).collect()
}

/// Returns the command without arguments.
pub(crate) fn blosc2_command() -> Command {
    let words = blosc2_words();
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    command
}
