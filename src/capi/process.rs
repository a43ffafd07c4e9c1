//! Initialising and shutting down the library, its global settings, and the names of codecs.

use super::ffi::{catch_errors, result_code, value_or};
use super::pointers::{CText, Out};
use crate::abi::blosc_threads_callback;
use crate::codec::BuiltInCodec;
use crate::error::{Error, ErrorKind, UNKNOWN_ERROR, ensure, err};
use crate::malloc::MallocBytes;
use crate::pipeline::library;
use crate::pipeline::scratch;
use crate::{pool, registry};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

/// Initialises the library. The call is optional: all functions work without it. Removes the codecs, filters and
/// tuners that were registered before the last `blosc2_destroy`. Does nothing when the library is already
/// initialised. May be called from several threads (`abi.md` 9.1).
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_init() {
    value_or((), || {
        library::init();
        Ok(())
    });
}

/// Shuts the library down: ends its worker threads and frees the memory that is cached between calls. Contexts
/// stay valid and must still be freed; global settings, such as the compressor and the number of threads, are
/// kept. The library need not be initialised (`abi.md` 9.1).
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_destroy() {
    value_or((), || {
        library::destroy();
        Ok(())
    });
}

/// Frees the memory that the library caches between calls: buffers, memory of freed chunks, and the state of
/// codecs. Threads other than the calling one free their caches at the end of their next call, or when they end.
///
/// Returns 0, or -1 when the library is not initialised.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_free_resources() -> c_int {
    result_code(|| {
        ensure!(library::is_initialized(), Failure, "the library is not initialised");
        scratch::release_all();
        Ok(0)
    })
}

/// Returns a description of `error_code`, one of `BLOSC2_ERROR_*`: a static string, not to be freed. Returns
/// `"Unknown error"` for any other number, also for 0.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_error_string(error_code: c_int) -> *const c_char {
    ErrorKind::from_code(error_code).map_or(UNKNOWN_ERROR, ErrorKind::message).as_ptr()
}

/// Returns the version of the interface, `"3.3.5"`: a static string, not to be freed.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_get_version_string() -> *const c_char {
    c"3.3.5".as_ptr()
}

/// Returns the names of the codecs that every build has, separated by commas: a static string, not to be freed.
/// Registered codecs are not listed.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_list_compressors() -> *const c_char {
    BuiltInCodec::NAMES.as_ptr()
}

/// Returns the name of a codec: `None` for an unknown id, `Some(None)` for a codec that was registered without a
/// name.
fn compname(compcode: c_int) -> Option<Option<&'static CStr>> {
    let builtin = BuiltInCodec::from_compcode(compcode).map(|codec| Some(codec.name()));
    builtin.or_else(|| registry::codec(compcode).map(|codec| codec.name))
}

/// Looks up the name of the codec with the id `compcode`, and stores it in `*compname`: a string that stays valid
/// for the life of the process and must not be freed. Stores NULL for an unknown id and for a codec that was
/// registered without a name.
///
/// Returns `compcode`, or -1 for an unknown id.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_compcode_to_compname(compcode: c_int, compname: Out<*mut *const c_char>) -> c_int {
    value_or(-1, || {
        let compname = compname.cleared();
        let name = self::compname(compcode).ok_or_else(|| err!(NotFound, "codec {compcode} is unknown"))?;
        compname.store(name.map_or(ptr::null(), CStr::as_ptr));
        Ok(compcode)
    })
}

/// Returns the id of the codec with the name `compname` (case-sensitive), also of a registered codec; -1 for an
/// unknown name or NULL.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_compname_to_compcode(compname: CText<*const c_char>) -> c_int {
    value_or(-1, || {
        let name = compname.get()?;
        library::compcode_by_name(name).ok_or_else(|| err!(NotFound, "codec {name:?} is unknown"))
    })
}

/// Looks up the library that implements the codec with the name `compname`: stores the name of the library in
/// `*complib` and its version in `*version`. Both strings are copies, which the caller frees with `free()`. Either
/// pointer may be NULL.
///
/// Returns the library code, or -1 for an unknown codec; then NULL is stored in both.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_get_complib_info(
    compname: CText<*const c_char>,
    complib: Out<*mut *mut c_char>,
    version: Out<*mut *mut c_char>,
) -> c_int {
    value_or(-1, || {
        let (complib, version) = (complib.cleared(), version.cleared());
        let name = compname.get()?;
        let Some((library_code, library, library_version)) = complib_info(name) else {
            return Err(err!(NotFound, "codec {name:?} is unknown"));
        };
        let texts = [MallocBytes::with_nul(library)?, MallocBytes::with_nul(library_version.as_bytes())?];
        for (place, text) in [complib, version].into_iter().zip(texts) {
            if !place.is_null() {
                place.store(text.into_raw().cast());
            }
        }
        Ok(library_code)
    })
}

/// Returns the code, the name and the version of the library that implements a codec (`codecs.md` 1.3).
fn complib_info(name: &CStr) -> Option<(c_int, &'static [u8], &'static str)> {
    let of_builtin = |codec: BuiltInCodec| {
        (c_int::from(codec.format()), codec.library_name().to_bytes(), codec.library_version())
    };
    if let Some(codec) = BuiltInCodec::from_name(name) {
        return Some(of_builtin(codec));
    }
    let complib = registry::codec_by_name(name)?.properties.complib;
    if let Some(codec) = BuiltInCodec::from_format(complib) {
        return Some(of_builtin(codec));
    }
    let first = registry::codec_by_complib(c_int::from(complib))?;
    Some((c_int::from(complib), first.name.unwrap_or_default().to_bytes(), "unknown"))
}

/// Sets the scheduler of all parallel jobs: `callback` is called for each job, instead of using the library's own
/// threads. NULL restores the library's threads. `callback_data` is passed to `callback` unchanged, and must stay
/// valid as long as the callback is set. No other thread may be inside a function of the library during this call.
///
/// # Safety
/// The rules of the module `capi`; `callback` obeys the contract of `blosc_threads_callback`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_set_threads_callback(
    callback: blosc_threads_callback,
    callback_data: *mut c_void,
) {
    value_or((), || {
        // SAFETY: the caller passes a function that obeys the contract of its typedef, and keeps `callback_data` valid as
        // long as it is set; no other thread is inside a function of the library.
        unsafe { pool::set_callback(callback, callback_data) };
        Ok(())
    });
}

/// Returns the number of threads that functions without a context use, the calling thread included; 1 until
/// `blosc2_set_nthreads` changes it.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_get_nthreads() -> i16 {
    value_or(1, || {
        library::init();
        Ok(library::nthreads())
    })
}

/// Sets the number of threads that functions without a context use to `nthreads`, the calling thread included, and
/// starts the additional threads.
///
/// Returns the previous number. Errors: -12 for less than 1, -26 when no thread can be started; nothing changes
/// then.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_set_nthreads(nthreads: i16) -> i16 {
    catch_errors(|error| error.code() as i16, || library::set_nthreads(nthreads))
}

/// Returns the name of the codec that functions without a context use: a static string, not to be freed. Returns
/// NULL after a call of `blosc1_set_compressor` with an unknown name.
#[unsafe(no_mangle)]
pub extern "C" fn blosc1_get_compressor() -> *const c_char {
    value_or(ptr::null(), || {
        library::init();
        Ok(compname(library::compressor()).flatten().map_or(ptr::null(), CStr::as_ptr))
    })
}

/// Sets the codec that functions without a context use to the one with the name `compname`.
///
/// Returns the id of the codec. Errors: -7 for a registered codec, and nothing changes; -1 for an unknown name,
/// and later compressions that need a codec fail with -7 until a known name is set; -12 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn blosc1_set_compressor(compname: CText<*const c_char>) -> c_int {
    catch_errors(Error::code, || library::set_compressor(compname.get()?))
}

/// Adds the delta filter to the filters of functions without a context; removes it if `dodelta` is 0.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_set_delta(dodelta: c_int) {
    change_setting(|| library::set_uses_delta(dodelta != 0));
}

/// Returns the block size, in bytes, that functions without a context use; 0 means that it is chosen
/// automatically.
#[unsafe(no_mangle)]
pub extern "C" fn blosc1_get_blocksize() -> c_int {
    value_or(0, || {
        library::init();
        Ok(library::blocksize())
    })
}

/// Sets the block size that functions without a context use to `blocksize` bytes; 0 means that it is chosen
/// automatically.
#[unsafe(no_mangle)]
pub extern "C" fn blosc1_set_blocksize(blocksize: usize) {
    change_setting(|| library::set_blocksize(blocksize as i32));
}

/// Sets the split mode that functions without a context use to `splitmode`: `BLOSC_ALWAYS_SPLIT`,
/// `BLOSC_NEVER_SPLIT`, `BLOSC_AUTO_SPLIT` or `BLOSC_FORWARD_COMPAT_SPLIT`.
#[unsafe(no_mangle)]
pub extern "C" fn blosc1_set_splitmode(splitmode: c_int) {
    change_setting(|| library::set_splitmode(splitmode));
}

fn change_setting(set: impl FnOnce()) {
    value_or((), || {
        library::init();
        set();
        Ok(())
    });
}
