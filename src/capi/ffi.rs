//! Conversions at the C ABI: panics and errors become return codes, and memory for the C caller comes from `malloc`.

use super::last_error;
use crate::chunk::format::LONGER_CONTENT;
use crate::error::{Error, Result, ensure, err};
use crate::panics::{catch_panics, catch_panics_of_short_call};
use crate::trace;
use std::ffi::c_int;

/// Runs `body` and returns its result, or `on_error(&error)` for an error, which it [reports](report). A panic, which
/// only a defect of the library can cause, becomes the error `Failure`.
#[inline(always)]
pub(super) fn catch_errors<R>(on_error: impl FnOnce(&Error) -> R, body: impl FnOnce() -> Result<R>) -> R {
    returned_value(on_error, catch_panics(body))
}

/// As [`catch_errors`], but returns `failure` for an error.
#[inline(always)]
pub(super) fn value_or<R>(failure: R, body: impl FnOnce() -> Result<R>) -> R {
    catch_errors(|_| failure, body)
}

/// Returns the result of a function, or `on_error(&error)` for an error, also for `None`, a panic.
#[inline(always)]
pub(super) fn returned_value<R>(on_error: impl FnOnce(&Error) -> R, result: Option<Result<R>>) -> R {
    let result = result.unwrap_or_else(|| Err(err!(Failure, "a defect of the library: a function panicked")));
    result.unwrap_or_else(|error| fail(error, on_error))
}

#[cold]
#[inline(never)]
fn fail<R>(error: Error, on_error: impl FnOnce(&Error) -> R) -> R {
    let result = on_error(&error);
    report(error);
    result
}

/// Reports an error that makes the call fail: in the trace, and as the last error of the thread.
pub(super) fn report(error: Error) {
    trace::error(&error);
    last_error::record(error);
}

/// Runs `body` as [`catch_errors`] does, and returns its size as an `int`, or the code of its error.
pub(super) fn result_code(body: impl FnOnce() -> Result<usize>) -> c_int {
    catch_errors(Error::code, || Ok(c_int::try_from(body()?).unwrap_or(c_int::MAX)))
}

/// As [`result_code`], for a call that is short unless `body` runs
/// [`in_library_call`](crate::panics::in_library_call).
#[inline(always)]
pub(super) fn result_code_of_short_call(body: impl FnOnce() -> Result<usize>) -> c_int {
    let code = catch_panics_of_short_call(|| Ok(c_int::try_from(body()?).unwrap_or(c_int::MAX)));
    returned_value(Error::code, code)
}

/// Converts a length that must not be negative.
pub(super) fn non_negative_len(len: i32) -> Result<usize> {
    usize::try_from(len).map_err(|_| {
        err!(InvalidParam, "a length is {len}, expected 0 or more and less than 2^31; {LONGER_CONTENT}")
    })
}

/// Returns an error if `is_null`, for a required pointer.
pub(super) fn check_not_null(is_null: bool) -> Result<()> {
    ensure!(!is_null, NullPointer, "a required pointer argument is NULL");
    Ok(())
}

/// Returns `len` bytes (at least 1) from `malloc`, never NULL; the C caller frees them.
pub(super) fn malloc(len: usize) -> Result<*mut u8> {
    // SAFETY: `malloc` accepts any length.
    let buffer: *mut u8 = unsafe { libc::malloc(len.max(1)) }.cast();
    ensure!(!buffer.is_null(), MemoryAlloc, "cannot allocate {len} bytes for the caller");
    Ok(buffer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_and_errors_become_negative_codes() {
        assert_eq!(result_code(|| panic!("on purpose")), -1);
        assert_eq!(result_code(|| Err(err!(Data, "bad"))), -3);
        assert_eq!(result_code(|| Ok(7)), 7);
        assert_eq!(result_code(|| Ok(usize::MAX)), c_int::MAX);
    }
}
