//! The exported functions: `include/blosc2/blosc2x_remote.h` documents them.
//!
//! The rules for pointers, which the `# Safety` sections refer to: a client is NULL or came from [`blosc2x_remote_new`] and is not
//! freed; a string is NULL or ends with NUL, and does not change during the call.

use crate::callbacks::{params, text};
use crate::client::BackendParams;
use crate::failure::{self, Failure, Result, code, value_or};
use crate::library::Library;
use crate::opening;
use blosc2::remote::Client;
use blosc2_core::abi::blosc2_schunk;
use std::ffi::{c_char, c_int};
use std::ptr::null_mut;
use std::time::Duration;

/// Registers the back-end `BLOSC2X_REMOTE_ID` with the libblosc2 that the program has loaded. Returns 0 or a code.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2x_remote_register() -> c_int {
    code(|| Library::find()?.register())
}

/// Makes a client. Returns NULL after an error.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2x_remote_new() -> *mut BackendParams {
    let failed = |_| null_mut();
    value_or(failed, || Ok(Box::into_raw(Box::new(BackendParams::new(Client::new(), None)))))
}

/// Frees a client; nothing for NULL.
///
/// # Safety
/// The rules of the module. The client is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2x_remote_free(client: *mut BackendParams) {
    code(|| {
        if !client.is_null() {
            // SAFETY: made by `blosc2x_remote_new`, and not used again.
            drop(unsafe { Box::from_raw(client) });
        }
        Ok(())
    });
}

/// Sets an option of the crate `object_store`. Returns 0 or a code.
///
/// # Safety
/// The rules of the module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2x_remote_set_option(
    client: *mut BackendParams,
    name: *const c_char,
    value: *const c_char,
) -> c_int {
    code(|| {
        // SAFETY: the rules of the module.
        let (client, name, value) =
            unsafe { (params(client.cast())?, text(name, "name")?, text(value, "value")?) };
        client.change(|client| Ok(client.option(name, value)))
    })
}

/// Sets the limit of the bytes of files in memory. Returns 0 or a code.
///
/// # Safety
/// The rules of the module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2x_remote_set_cache(client: *mut BackendParams, nbytes: i64) -> c_int {
    code(|| {
        let nbytes = u64::try_from(nbytes).map_err(|_| Failure::param(format!("`nbytes` is {nbytes}")))?;
        // SAFETY: the rules of the module.
        unsafe { params(client.cast()) }?.change(|client| Ok(client.cache(nbytes)))
    })
}

/// Keeps pages of files in a directory, too. Returns 0 or a code.
///
/// # Safety
/// The rules of the module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2x_remote_set_disk_cache(
    client: *mut BackendParams,
    directory: *const c_char,
    nbytes: i64,
) -> c_int {
    code(|| {
        let nbytes = u64::try_from(nbytes).map_err(|_| Failure::param(format!("`nbytes` is {nbytes}")))?;
        // SAFETY: the rules of the module.
        let (client, directory) = unsafe { (params(client.cast())?, text(directory, "directory")?) };
        client.change(|client| Ok(client.disk_cache(directory, nbytes)?))
    })
}

/// Sets the number of requests at a time. Returns 0 or a code.
///
/// # Safety
/// The rules of the module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2x_remote_set_parallel(client: *mut BackendParams, nrequests: c_int) -> c_int {
    code(|| {
        let count = usize::try_from(nrequests).ok().filter(|&count| count > 0);
        let count = count.ok_or_else(|| Failure::param(format!("`nrequests` is {nrequests}")))?;
        // SAFETY: the rules of the module.
        unsafe { params(client.cast()) }?.change(|client| Ok(client.parallel(count)))
    })
}

/// Sets the time of a request. Returns 0 or a code.
///
/// # Safety
/// The rules of the module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2x_remote_set_time_limit(client: *mut BackendParams, seconds: f64) -> c_int {
    code(|| {
        let limit = Duration::try_from_secs_f64(seconds).ok().filter(|limit| !limit.is_zero());
        let limit = limit.ok_or_else(|| Failure::param(format!("`seconds` is {seconds}")))?;
        // SAFETY: the rules of the module.
        unsafe { params(client.cast()) }?.change(|client| Ok(client.time_limit(limit)))
    })
}

/// Returns the number of requests of a client; a code after an error.
///
/// # Safety
/// The rules of the module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2x_remote_requests(client: *const BackendParams) -> i64 {
    // SAFETY: the rules of the module.
    count(unsafe { params(client.cast()) }, Client::requests)
}

/// Returns the number of bytes that the requests of a client have returned; a code after an error.
///
/// # Safety
/// The rules of the module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2x_remote_nbytes(client: *const BackendParams) -> i64 {
    // SAFETY: the rules of the module.
    count(unsafe { params(client.cast()) }, Client::nbytes)
}

fn count(client: Result<&BackendParams>, count: impl FnOnce(&Client) -> u64) -> i64 {
    value_or(i64::from, || Ok(i64::try_from(count(&client?.client()?)).unwrap_or(i64::MAX)))
}

/// Opens the super-chunk at a URL. Returns NULL after an error.
///
/// # Safety
/// The rules of the module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2x_remote_open(
    client: *mut BackendParams,
    url: *const c_char,
) -> *mut blosc2_schunk {
    let failed = |_| null_mut();
    value_or(failed, || {
        // SAFETY: the rules of the module.
        let (client, url) = unsafe { (params(client.cast())?, text(url, "url")?) };
        opening::open(&client.client()?, url)
    })
}

/// Returns the text of the last error of all threads, or NULL.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2x_remote_last_error() -> *const c_char {
    blosc2_core::blosc1::catch_panics(failure::last_text).unwrap_or(std::ptr::null())
}
