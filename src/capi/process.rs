//! Bringing the library up and down, its settings, and the names of codecs.

use super::ffi::{code, guard, malloc_copy, store, string};
use crate::abi::blosc_threads_callback;
use crate::codec::BuiltIn;
use crate::err;
use crate::error::{Error, ErrorKind, Result, UNKNOWN};
use crate::pipeline::library;
use crate::pipeline::scratch;
use crate::{pool, registry};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

/// Brings the library up. Calling it is not necessary: every function works without. What it does is forget the
/// codecs, filters and tuners that were registered before the last `blosc2_destroy`. Does nothing when the library
/// is up already; may be called from several threads (`abi.md` 9.1).
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_init() {
    guard(
        |_| (),
        || {
            library::init();
            Ok(())
        },
    );
}

/// Takes the library down: ends its worker threads, and frees memory that was kept to be used again. Contexts stay valid and must still be freed; settings such as
/// the compressor and the number of threads are kept. Does nothing when the library is not up (`abi.md` 9.1).
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_destroy() {
    guard(
        |_| (),
        || {
            library::destroy();
            Ok(())
        },
    );
}

/// Releases the memory that the library keeps between calls: buffers, chunks that were freed, and the state of codecs. Other
/// threads than the calling one release their own at the end of their next call, or when they end.
///
/// Returns 0, or -1 when the library is not up.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_free_resources() -> c_int {
    code(|| {
        if !library::is_up() {
            return Err(err!(Failure, "the library is not up"));
        }
        scratch::release_all();
        Ok(0)
    })
}

/// Returns the text for `error_code`: a static string, `"Unknown error"` for any number that is no error
/// code.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_error_string(error_code: c_int) -> *const c_char {
    ErrorKind::from_code(error_code).map_or(UNKNOWN, ErrorKind::message).as_ptr()
}

/// Returns the version of the ABI, `"3.3.5"`: a static string.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_get_version_string() -> *const c_char {
    c"3.3.5".as_ptr()
}

/// Returns the names of the codecs that every build has, separated by commas: a static string.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_list_compressors() -> *const c_char {
    c"blosclz,lz4,lz4hc,zlib,zstd".as_ptr()
}

fn builtin_name(codec: BuiltIn) -> &'static CStr {
    match codec {
        BuiltIn::BloscLz => c"blosclz",
        BuiltIn::Lz4 => c"lz4",
        BuiltIn::Lz4Hc => c"lz4hc",
        BuiltIn::Zlib => c"zlib",
        BuiltIn::Zstd => c"zstd",
    }
}

/// Returns the name of a codec: `None` for an unknown id, `Some(None)` for a codec that was registered without a name.
fn compname(compcode: c_int) -> Option<Option<&'static CStr>> {
    let builtin = BuiltIn::from_compcode(compcode).map(|codec| Some(builtin_name(codec)));
    builtin.or_else(|| registry::codec(compcode).map(|codec| codec.name))
}

/// The name of a codec: stores a string that stays valid, or NULL for an unknown id and for a codec that was registered
/// without a name, in `*compname`.
///
/// Returns `compcode`, or -1 for an unknown id.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_compcode_to_compname(compcode: c_int, compname: *mut *const c_char) -> c_int {
    guard(
        |_| -1,
        || {
            let name = self::compname(compcode);
            // SAFETY: by the rules of the module.
            unsafe { store(compname, name.flatten().map_or(ptr::null(), CStr::as_ptr)) };
            Ok(if name.is_some() { compcode } else { -1 })
        },
    )
}

/// Returns the id of the codec that is called `compname`, which is case-sensitive; -1 for an unknown name or
/// NULL.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_compname_to_compcode(compname: *const c_char) -> c_int {
    guard(
        |_| -1,
        || {
            // SAFETY: by the rules of the module.
            let name = unsafe { string(compname) }?;
            Ok(library::compcode_of(name).unwrap_or(-1))
        },
    )
}

/// The library behind the codec that is called `compname`: stores its name and its version in `*complib` and
/// `*version`, both from `malloc`; the caller frees them. Either pointer may be NULL.
///
/// Returns the code of the library, or -1 for an unknown codec; then NULL is stored in both.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_get_complib_info(
    compname: *const c_char,
    complib: *mut *mut c_char,
    version: *mut *mut c_char,
) -> c_int {
    guard(
        |_| -1,
        || {
            // SAFETY: by the rules of the module.
            unsafe {
                store(complib, ptr::null_mut());
                store(version, ptr::null_mut());
            }
            // SAFETY: by the rules of the module.
            let name = unsafe { string(compname) }?;
            let Some((library_code, library, library_version)) = complib_info(name) else {
                return Err(err!(NotFound, "no codec is called {name:?}"));
            };
            for (place, text) in [(complib, library), (version, library_version.as_bytes())] {
                if !place.is_null() {
                    let copy = malloc_copy(text, true)?.cast();
                    // SAFETY: by the rules of the module.
                    unsafe { store(place, copy) };
                }
            }
            Ok(library_code)
        },
    )
}

/// Code, name and version of the library behind a codec (`codecs.md` 1.3).
fn complib_info(name: &CStr) -> Option<(c_int, &'static [u8], &'static str)> {
    let of_builtin = |codec: BuiltIn| {
        (c_int::from(codec.library_code()), codec.library_name().as_bytes(), codec.library_version())
    };
    if let Some(codec) = name.to_str().ok().and_then(BuiltIn::from_name) {
        return Some(of_builtin(codec));
    }
    let complib = registry::codec_by_name(name)?.complib;
    if let Some(codec) = builtin_library(complib) {
        return Some(of_builtin(codec));
    }
    let first = registry::codec_by_complib(c_int::from(complib))?;
    Some((c_int::from(complib), first.name.unwrap_or_default().to_bytes(), "unknown"))
}

/// A codec of the format whose library has that code.
pub(super) fn builtin_library(complib: u8) -> Option<BuiltIn> {
    let all = [BuiltIn::BloscLz, BuiltIn::Lz4, BuiltIn::Zlib, BuiltIn::Zstd];
    all.into_iter().find(|codec| codec.library_code() == complib)
}

/// Hands every parallel job to the caller's own scheduler instead of the library's threads; NULL restores those.
/// To be called while no other thread is inside the library. `callback_data` is passed on and must stay valid.
///
/// # Safety
/// The rules of the module `capi`; `callback` obeys the contract of `blosc_threads_callback`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_set_threads_callback(
    callback: blosc_threads_callback,
    callback_data: *mut c_void,
) {
    guard(
        |_| (),
        || {
            // SAFETY: the caller's promise is the one that is asked for.
            unsafe { pool::set_callback(callback, callback_data) };
            Ok(())
        },
    );
}

/// Returns the number of threads that functions without a context use; 1 until it is set.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_get_nthreads() -> i16 {
    guard(
        |_| 1,
        || {
            library::init();
            Ok(library::nthreads())
        },
    )
}

/// Sets the number of threads that functions without a context use to `nthreads`, the caller's among them,
/// and starts the others.
///
/// Returns the previous number; -12 for less than 1, -26 when no thread can be started, and nothing changes.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_set_nthreads(nthreads: i16) -> i16 {
    guard(|error| error.code() as i16, || library::set_nthreads(nthreads))
}

/// Returns the name of the codec that functions without a context use: a static string; NULL after a call of
/// `blosc1_set_compressor` with an unknown name.
#[unsafe(no_mangle)]
pub extern "C" fn blosc1_get_compressor() -> *const c_char {
    guard(
        |_| ptr::null(),
        || {
            library::init();
            Ok(compname(library::compressor()).flatten().map_or(ptr::null(), CStr::as_ptr))
        },
    )
}

/// Sets the codec that functions without a context use to the one that is called `compname`.
///
/// Returns its id; -7 for a registered codec, and nothing changes; -1 for an unknown name, and compression
/// fails with -7 until a known name is set.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc1_set_compressor(compname: *const c_char) -> c_int {
    guard(Error::code, || {
        // SAFETY: by the rules of the module.
        library::set_compressor(unsafe { string(compname) }?)
    })
}

/// Puts a delta filter into the pipeline of functions without a context, or takes it out if `dodelta` is 0.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_set_delta(dodelta: c_int) {
    setting(|| library::set_delta(dodelta != 0));
}

/// Returns the block size, in bytes, of functions without a context; 0 is automatic.
#[unsafe(no_mangle)]
pub extern "C" fn blosc1_get_blocksize() -> c_int {
    guard(
        |_| 0,
        || {
            library::init();
            Ok(library::blocksize())
        },
    )
}

/// Sets the block size of functions without a context to `blocksize` bytes; 0 is automatic.
#[unsafe(no_mangle)]
pub extern "C" fn blosc1_set_blocksize(blocksize: usize) {
    setting(|| library::set_blocksize(blocksize as i32));
}

/// Sets the split mode of functions without a context to `splitmode`, one of `BLOSC_ALWAYS_SPLIT` and so on.
#[unsafe(no_mangle)]
pub extern "C" fn blosc1_set_splitmode(splitmode: c_int) {
    setting(|| library::set_splitmode(splitmode));
}

fn setting(set: impl FnOnce()) {
    guard(
        |_| (),
        || -> Result<()> {
            library::init();
            set();
            Ok(())
        },
    );
}
