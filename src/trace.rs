//! Diagnostics on stderr, enabled by the environment variables `BLOSC_TRACE` and `BLOSC_INFO` (`abi.md` 10.4). Blosc 1 has
//! no such variables: the library for it, which is built without the feature `c-api`, has no diagnostics of this kind.

use crate::environment;
use crate::error::{Error, Text};
use std::ffi::CStr;
use std::fmt;
use std::io::Write;
use std::panic::Location;

/// Returns whether a variable that enables diagnostics is set.
fn is_enabled(variable: &CStr) -> bool {
    cfg!(feature = "c-api") && environment::is_set(variable)
}

fn is_trace_enabled() -> bool {
    is_enabled(c"BLOSC_TRACE")
}

/// Length in bytes to which a line is truncated if its memory cannot be allocated.
const FALLBACK_LINE_LEN: usize = 512;

/// Writes a line with one call, so that lines of several threads are not interleaved.
fn write_line(line: fmt::Arguments<'_>) {
    let text = Text::new(line);
    let mut short = [0; FALLBACK_LINE_LEN];
    let bytes = if text.as_str().ends_with('\n') {
        text.as_str().as_bytes()
    } else {
        // The memory for the text could not be allocated: the line is truncated to the buffer.
        let mut rest = &mut short[..FALLBACK_LINE_LEN - 1];
        let _ = rest.write_fmt(line);
        let len = FALLBACK_LINE_LEN - 1 - rest.len();
        short[len] = b'\n';
        let end = if short[..len].ends_with(b"\n") { len } else { len + 1 };
        &short[..end]
    };
    // Errors are ignored: a closed stderr cannot be reported anywhere.
    let _ = std::io::stderr().write_all(bytes);
}

fn write_message(category: &str, text: fmt::Arguments<'_>, place: Option<&Location<'_>>) {
    match place {
        Some(place) => {
            write_line(format_args!("[{category}] - {text} ({}:{})\n", place.file(), place.line()))
        }
        None => write_line(format_args!("[{category}] - {text}\n")),
    }
}

/// Reports an error whose code is about to be returned to the caller.
pub(crate) fn error(error: &Error) {
    if is_trace_enabled() {
        write_message("error", format_args!("{error:#}"), error.location());
    }
}

/// Reports an unusual condition that is no error.
#[track_caller]
pub(crate) fn warning(text: impl FnOnce() -> String) {
    if is_trace_enabled() {
        write_message("warning", format_args!("{}", text()), Some(Location::caller()));
    }
}

/// Reports a decision of the library.
pub(crate) fn info(text: impl FnOnce() -> String) {
    if is_enabled(c"BLOSC_INFO") {
        write_line(format_args!("[INFO] - {}\n", text()));
    }
}
