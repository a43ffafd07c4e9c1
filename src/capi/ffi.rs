//! Conversions at the C ABI: panics and errors become return codes, pointers with lengths become slices.

use super::last_error;
use crate::abi::blosc2_schunk;
use crate::err;
use crate::error::{Error, Result};
use crate::out_buffer::OutBuffer;
use crate::panics::catch_panics;
use crate::schunk::SuperChunk;
use crate::trace;
use std::ffi::{CStr, c_char, c_int, c_void};

/// Runs `body` and returns its result, or `on_error(&error)` for an error, which it [reports](report). A panic, which
/// only a defect of the library can cause, becomes the error `Failure`.
pub(super) fn catch_errors<R>(on_error: impl FnOnce(&Error) -> R, body: impl FnOnce() -> Result<R>) -> R {
    let result = catch_panics(body)
        .unwrap_or_else(|| Err(err!(Failure, "a defect of the library: a function panicked")));
    result.unwrap_or_else(|error| {
        let result = on_error(&error);
        report(error);
        result
    })
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

/// Converts a length that must not be negative.
pub(super) fn non_negative_len(len: i32) -> Result<usize> {
    usize::try_from(len).map_err(|_| err!(InvalidParam, "a length is {len}, expected 0 or more"))
}

/// Converts a length; a negative one counts as 0.
pub(super) fn len_or_zero(len: i32) -> usize {
    usize::try_from(len).unwrap_or(0)
}

/// Returns the `len` bytes at `ptr`, an input of the caller.
///
/// # Safety
/// The rules of the module `capi`.
pub(super) unsafe fn source_slice<'a>(ptr: *const c_void, len: usize) -> Result<&'a [u8]> {
    if len == 0 {
        return Ok(&[]);
    }
    if ptr.is_null() {
        return Err(err!(NullPointer, "the source is NULL, expected {len} bytes"));
    }
    // SAFETY: not NULL, and by the rules `len` bytes long.
    Ok(unsafe { std::slice::from_raw_parts(ptr.cast(), len) })
}

/// Returns the `len` bytes at `ptr`, an output buffer of the caller; they may be uninitialised.
///
/// # Safety
/// The rules of the module `capi`.
pub(super) unsafe fn dest_buffer<'a>(ptr: *mut c_void, len: usize) -> Result<OutBuffer<'a>> {
    if len == 0 {
        return Ok(OutBuffer::default());
    }
    if ptr.is_null() {
        return Err(err!(NullPointer, "the destination is NULL, expected {len} bytes"));
    }
    // SAFETY: not NULL, by the rules `len` bytes long, and no other buffer of the call overlaps it.
    Ok(unsafe { OutBuffer::from_raw(ptr.cast(), len) })
}

/// Returns the super-chunk at `ptr`; NULL is an error.
///
/// # Safety
/// The rules of the module `capi`.
pub(super) unsafe fn schunk_ref<'a>(ptr: *mut blosc2_schunk) -> Result<&'a SuperChunk> {
    // SAFETY: NULL or an object of this library that is not freed.
    unsafe { SuperChunk::from_ptr(ptr) }.ok_or_else(|| err!(NullPointer, "the super-chunk is NULL"))
}

/// Returns the string at `ptr`; NULL is an error.
///
/// # Safety
/// The rules of the module `capi`.
pub(super) unsafe fn c_str<'a>(ptr: *const c_char) -> Result<&'a CStr> {
    if ptr.is_null() {
        return Err(err!(InvalidParam, "a string argument is NULL"));
    }
    // SAFETY: not NULL, and by the rules it ends with NUL.
    Ok(unsafe { CStr::from_ptr(ptr) })
}

/// Checks that the pointer to a result is not NULL.
pub(super) fn check_not_null<T>(ptr: *mut T) -> Result<()> {
    if ptr.is_null() {
        return Err(err!(NullPointer, "a required pointer argument is NULL"));
    }
    Ok(())
}

/// The place of a result, or of an array of results, of an exported function; it may be NULL.
///
/// [`Out::cleared`] is called before the first check of a function, so that each of its results is NULL, false or 0
/// when the function fails.
#[derive(Clone, Copy)]
pub(super) struct Out<T> {
    place: *mut T,
    len: usize,
}

impl<T> Out<T> {
    /// Sets `*place` to NULL, false or 0, unless `place` is NULL.
    ///
    /// # Safety
    /// `place` is NULL, or writable as long as the result is used. Zero bytes are a valid `T`.
    pub(super) unsafe fn cleared(place: *mut T) -> Out<T> {
        // SAFETY: the contract of this function.
        unsafe { Out::cleared_array(place, 1) }
    }

    /// Sets the `len` elements at `place` to NULL, false or 0, unless `place` is NULL.
    ///
    /// # Safety
    /// As for [`Out::cleared`], for `len` elements.
    pub(super) unsafe fn cleared_array(place: *mut T, len: usize) -> Out<T> {
        if place.is_null() {
            return Out { place, len: 0 };
        }
        // SAFETY: not NULL, and writable by the contract of this function.
        unsafe { place.write_bytes(0, len) };
        Out { place, len }
    }

    /// Returns whether the caller passed NULL.
    pub(super) fn is_null(&self) -> bool {
        self.place.is_null()
    }

    /// Stores the result, unless the place is NULL.
    pub(super) fn store(self, value: T) {
        self.store_at(0, value);
    }

    /// Stores element `index` of an array of results, unless the array is NULL or shorter.
    pub(super) fn store_at(self, index: usize, value: T) {
        if index < self.len {
            // SAFETY: an element of the array, which is writable by the contract of `cleared_array`.
            unsafe { self.place.add(index).write(value) };
        }
    }
}

/// Returns a copy of `bytes` in memory from `malloc`, with a NUL at the end if `terminated`; the C caller frees
/// it.
pub(super) fn malloc_copy(bytes: &[u8], terminated: bool) -> Result<*mut u8> {
    let buffer = malloc(bytes.len() + usize::from(terminated))?;
    // SAFETY: a fresh buffer of that length.
    unsafe {
        buffer.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        if terminated {
            buffer.add(bytes.len()).write(0);
        }
    }
    Ok(buffer)
}

/// Returns `len` bytes (at least 1) from `malloc`, never NULL; the C caller frees them.
pub(super) fn malloc(len: usize) -> Result<*mut u8> {
    // SAFETY: `malloc` accepts any length.
    let buffer: *mut u8 = unsafe { libc::malloc(len.max(1)) }.cast();
    if buffer.is_null() {
        return Err(err!(MemoryAlloc, "cannot allocate {len} bytes for the caller"));
    }
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

    #[test]
    fn null_is_rejected_unless_the_length_is_zero() {
        // SAFETY: NULL with a length of 0, or refused.
        unsafe {
            assert!(source_slice(std::ptr::null(), 0).unwrap().is_empty());
            assert!(source_slice(std::ptr::null(), 1).is_err());
            assert!(dest_buffer(std::ptr::null_mut(), 0).unwrap().len() == 0);
            assert!(dest_buffer(std::ptr::null_mut(), 1).is_err());
            assert!(c_str(std::ptr::null()).is_err());
        }
    }

    #[test]
    fn results_are_cleared_first_and_stored_within_their_array() {
        let (mut number, mut array) = (7, [7; 4]);
        // SAFETY: variables of this function, or NULL.
        let (one, some, none) = unsafe {
            (
                Out::cleared(&raw mut number),
                Out::cleared_array(array.as_mut_ptr(), 3),
                Out::cleared_array(std::ptr::null_mut::<i32>(), 3),
            )
        };
        assert!(none.is_null() && !one.is_null() && !some.is_null());
        none.store(1);
        some.store_at(2, 5);
        some.store_at(3, 5);
        assert_eq!((number, array), (0, [0, 0, 5, 7]));
        one.store(9);
        assert_eq!(number, 9);
    }
}
