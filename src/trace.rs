//! Diagnostics on stderr, for programs that ask for them by `BLOSC_TRACE` or `BLOSC_INFO` (`abi.md` 10.4).

use crate::environment;
use crate::error::Error;
use std::io::Write;
use std::panic::Location;

fn is_on() -> bool {
    environment::is_set(c"BLOSC_TRACE")
}

/// Writes a line at once, so that those of several threads stay whole.
fn write(line: &str) {
    // Nobody can be told that stderr is closed.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

fn line(category: &str, text: &str, place: &Location<'_>) {
    write(&format!("[{category}] - {text} ({}:{})\n", place.file(), place.line()));
}

/// Tells of an error that a caller is about to get as a code.
pub fn error(error: &Error) {
    if is_on() {
        line("error", &error.to_string(), error.place());
    }
}

/// Tells of something odd that is no error.
#[track_caller]
pub fn warning(text: impl FnOnce() -> String) {
    if is_on() {
        line("warning", &text(), Location::caller());
    }
}

/// Tells what was decided.
pub fn info(text: impl FnOnce() -> String) {
    if environment::is_set(c"BLOSC_INFO") {
        write(&format!("[INFO] - {}\n", text()));
    }
}
