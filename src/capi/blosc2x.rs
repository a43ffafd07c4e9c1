//! Extensions: functions that C-Blosc2 does not have (`abi.md` 2.11).

use super::ffi::{result_code, value_or};
use super::last_error;
use super::pointers::Handle;
use crate::abi::{blosc2_schunk, blosc2x_io_fetch, blosc2x_io_release};
use crate::error::err;
use crate::frame::store::durability::Durability;
use crate::io::backend_registry::{self, FetchCallbacks};
use std::ffi::{c_char, c_int};
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
    value_or(ptr::null(), || Ok(last_error::text()))
}

/// Sets `level`, what a change of a super-chunk on disk leaves if the process dies or the machine loses power in the
/// middle of it: `BLOSC2X_DURABILITY_OFF`, `_KILL` or `_POWER`. Before this call, the level is that of the environment
/// variable `BLOSC2_DURABILITY` (`off`, `kill` or `power`) when the super-chunk was created or opened, otherwise
/// `BLOSC2X_DURABILITY_KILL`. The level belongs to this super-chunk, not to the file.
///
/// Returns 0; `BLOSC2_ERROR_INVALID_PARAM` for another level, for a view, and for a level other than
/// `BLOSC2X_DURABILITY_OFF` if the super-chunk is in memory, in a mapped file, or uses a registered I/O back-end;
/// `BLOSC2_ERROR_FAILURE` between `blosc2_schunk_lock` and `blosc2_schunk_unlock`; an error of writing the file, whose
/// layout the level `BLOSC2X_DURABILITY_OFF` changes.
///
/// # Safety
/// `schunk` is NULL or a super-chunk of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2x_schunk_set_durability(
    schunk: Handle<*mut blosc2_schunk>,
    level: c_int,
) -> c_int {
    result_code(|| {
        let schunk = schunk.get()?;
        schunk.set_durability(Durability::from_number(level)?).map(|()| 0)
    })
}

/// Waits until all completed changes of a super-chunk on disk survive a loss of power: the files, and their names. At
/// the level `BLOSC2X_DURABILITY_POWER` they do so already. Changes since an open `blosc2_schunk_lock` are not
/// completed. Nothing happens for a super-chunk in memory.
///
/// Returns 0; `BLOSC2_ERROR_INVALID_PARAM` for a super-chunk in a mapped file or with a registered I/O back-end;
/// `BLOSC2_ERROR_FILE_OPEN` or `BLOSC2_ERROR_FILE_WRITE` if the system reports an error.
///
/// # Safety
/// `schunk` is NULL or a super-chunk of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2x_schunk_sync(schunk: Handle<*mut blosc2_schunk>) -> c_int {
    result_code(|| schunk.get()?.sync().map(|()| 0))
}

/// Gives the registered I/O back-end `id` two functions for files that are read over a network, in place of earlier ones:
/// before a slice, a whole chunk, a box or a selection of an array is read, `fetch` gets the ranges of the files that the
/// read needs, first the tables of all chunks, then their blocks, and `release` gets the results when the read ends. Of the
/// locks of the library, only that of the shape of an array may be held while they run. Other reads call `read` alone.
/// NULL for both removes the functions. Super-chunks that are open keep those that they have.
///
/// Returns 0. Errors: -30 for an id that is not registered, -12 if one of the functions is NULL and the other is not.
///
/// # Safety
/// The functions obey the contracts of their typedefs, and stay loaded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2x_register_io_fetch(
    id: u8,
    fetch: blosc2x_io_fetch,
    release: blosc2x_io_release,
) -> c_int {
    result_code(|| {
        let callbacks = match (fetch, release) {
            (Some(fetch), Some(release)) => Some(FetchCallbacks { fetch, release }),
            (None, None) => None,
            _ => return Err(err!(InvalidParam, "one of `fetch` and `release` is NULL")),
        };
        // SAFETY: the functions obey the contracts of their typedefs, and stay loaded.
        unsafe { backend_registry::register_fetch(id, callbacks) }.map(|()| 0)
    })
}
