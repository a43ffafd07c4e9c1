//! Extensions: functions that C-Blosc2 does not have (`abi.md` 2.11).

use super::ffi::catch_errors;
use super::last_error;
use std::ffi::c_char;
use std::ptr;

/// Returns the text of the last error of the calling thread: the text of the error code, as `blosc2_error_string`
/// returns it, and details, for example `Invalid data: ...`. The string belongs to the library and must not be freed.
/// It is valid until the next call of this thread that fails, or the end of the thread. A call that succeeds does not
/// change the text, so a program reads it only after a call has failed. Calls of other threads do not change it
/// either, and neither do the inline functions `blosc2_meta_exists` and `blosc2_meta_get`.
///
/// Returns NULL if no call of the thread has failed. Without memory for the details, the text is that of the error
/// code alone.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2x_last_error() -> *const c_char {
    catch_errors(|_| ptr::null(), || Ok(last_error::text()))
}
