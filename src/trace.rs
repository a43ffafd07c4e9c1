//! Diagnostics on stderr, for programs that ask for them by `BLOSC_TRACE` or `BLOSC_INFO` (`abi.md` 10.4).

use crate::environment;
use crate::error::{Error, Text};
use std::fmt;
use std::io::Write;
use std::panic::Location;

fn is_on() -> bool {
    environment::is_set(c"BLOSC_TRACE")
}

/// Length in bytes to which a line is cut when there is no memory for it.
const SHORT_LINE: usize = 512;

/// Writes a line at once, so that those of several threads stay whole.
fn write(line: fmt::Arguments<'_>) {
    let text = Text::new(line);
    let mut short = [0; SHORT_LINE];
    let bytes = if text.as_str().ends_with('\n') {
        text.as_str().as_bytes()
    } else {
        // There is no memory for the text: the buffer takes what fits into it, and the rest is lost.
        let mut rest = &mut short[..SHORT_LINE - 1];
        let _ = rest.write_fmt(line);
        let len = SHORT_LINE - 1 - rest.len();
        short[len] = b'\n';
        let end = if short[..len].ends_with(b"\n") { len } else { len + 1 };
        &short[..end]
    };
    // An error is ignored: there is nothing to report a closed stderr to.
    let _ = std::io::stderr().write_all(bytes);
}

fn line(category: &str, text: fmt::Arguments<'_>, place: Option<&Location<'_>>) {
    match place {
        Some(place) => write(format_args!("[{category}] - {text} ({}:{})\n", place.file(), place.line())),
        None => write(format_args!("[{category}] - {text}\n")),
    }
}

/// Tells of an error that a caller is about to get as a code.
pub(crate) fn error(error: &Error) {
    if is_on() {
        line("error", format_args!("{error}"), error.place());
    }
}

/// Tells of something odd that is no error.
#[track_caller]
pub(crate) fn warning(text: impl FnOnce() -> String) {
    if is_on() {
        line("warning", format_args!("{}", text()), Some(Location::caller()));
    }
}

/// Tells what was decided.
pub(crate) fn info(text: impl FnOnce() -> String) {
    if environment::is_set(c"BLOSC_INFO") {
        write(format_args!("[INFO] - {}\n", text()));
    }
}
