//! Metalayers of super-chunks (`abi.md` 2.6). Asking for fixed ones is inline code of the headers.

use super::ffi::{code, length, schunk, source, store, string};
use crate::abi::{blosc2_cparams, blosc2_schunk};
use crate::err;
use crate::error::Result;
use crate::malloc::Malloced;
use std::ffi::{CStr, c_char, c_int};
use std::ptr;

/// A name and a content from C.
///
/// # Safety
/// The rules of the module `capi`.
unsafe fn given<'a>(
    name: *const c_char,
    content: *const u8,
    content_len: i32,
) -> Result<(&'a CStr, &'a [u8])> {
    let len = length(content_len)?;
    if content.is_null() && len > 0 {
        return Err(err!(InvalidParam, "a content of {len} bytes is NULL"));
    }
    // SAFETY: by the caller's word.
    Ok(unsafe { (string(name)?, source(content.cast(), len)?) })
}

/// NULL is a bad parameter here.
fn there(schunk: *mut blosc2_schunk) -> Result<()> {
    if schunk.is_null() {
        return Err(err!(InvalidParam, "the super-chunk is NULL"));
    }
    Ok(())
}

/// Adds a metalayer to `schunk`: `name`, of 31 bytes at most, and the `content_len` bytes at `content`, a
/// length that it keeps. Both are copied. A frame takes metalayers only as long as it has no chunks.
///
/// Returns its position. -12 for NULL, a name of more than 31 bytes or that is there already, a 17th
/// metalayer, a bad length, or a frame with chunks; another negative code when the frame cannot be written.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_meta_add(
    schunk: *mut blosc2_schunk,
    name: *const c_char,
    content: *mut u8,
    content_len: i32,
) -> c_int {
    code(|| {
        there(schunk)?;
        // SAFETY: by the rules of the module.
        let (schunk, (name, content)) =
            unsafe { (self::schunk(schunk)?, given(name, content, content_len)?) };
        schunk.meta_add(name, content)
    })
}

/// Overwrites the start of the content of the metalayer `name` of `schunk` with the `content_len` bytes at
/// `content`, which are copied; its length stays. A longer content changes nothing, and is no error.
///
/// Returns its position. -16 when there is none with that name, -12 for NULL, a name of more than 31 bytes or
/// a bad length; another negative code when the frame cannot be written.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_meta_update(
    schunk: *mut blosc2_schunk,
    name: *const c_char,
    content: *mut u8,
    content_len: i32,
) -> c_int {
    code(|| {
        there(schunk)?;
        // SAFETY: by the rules of the module.
        let (schunk, (name, content)) =
            unsafe { (self::schunk(schunk)?, given(name, content, content_len)?) };
        schunk.meta_update(name, content)
    })
}

/// Looks for the metalayer of variable length `name` of `schunk`, also for one that another process has just
/// added.
///
/// Returns its position. -16 when there is none with that name, -12 for NULL or a name of more than 31 bytes,
/// -37 when the lock cannot be had.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_vlmeta_exists(schunk: *mut blosc2_schunk, name: *const c_char) -> c_int {
    code(|| {
        there(schunk)?;
        // SAFETY: by the rules of the module.
        unsafe { self::schunk(schunk)?.vlmeta_exists(string(name)?) }
    })
}

/// Compresses the `content_len` bytes at `content` with `cparams`, or the default parameters if that is NULL,
/// and adds them to `schunk` as the metalayer of variable length `name`. Nothing of the caller's is kept.
/// There can be 8192, and 16 in a frame.
///
/// Returns its position. -12 for NULL, a name of more than 31 bytes or that is there already, or a bad
/// length; -1 for the 17th in a frame, -32 for parameters of which no context can be made, another negative
/// code when it cannot be compressed or written.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_vlmeta_add(
    schunk: *mut blosc2_schunk,
    name: *const c_char,
    content: *mut u8,
    content_len: i32,
    cparams: *mut blosc2_cparams,
) -> c_int {
    code(|| {
        there(schunk)?;
        // SAFETY: by the rules of the module.
        let (schunk, (name, content), cparams) =
            unsafe { (self::schunk(schunk)?, given(name, content, content_len)?, cparams.as_ref()) };
        // SAFETY: as above.
        unsafe { schunk.vlmeta_add(name, content, cparams) }
    })
}

/// Gives the metalayer of variable length `name` of `schunk` another content, the `content_len` bytes at
/// `content`, compressed with `cparams`; as `blosc2_vlmeta_add`.
///
/// Returns its position, or a code as there; -16 when there is none with that name.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_vlmeta_update(
    schunk: *mut blosc2_schunk,
    name: *const c_char,
    content: *mut u8,
    content_len: i32,
    cparams: *mut blosc2_cparams,
) -> c_int {
    code(|| {
        there(schunk)?;
        // SAFETY: by the rules of the module.
        let (schunk, (name, content), cparams) =
            unsafe { (self::schunk(schunk)?, given(name, content, content_len)?, cparams.as_ref()) };
        // SAFETY: as above.
        unsafe { schunk.vlmeta_update(name, content, cparams) }
    })
}

/// Stores the content of the metalayer of variable length `name` of `schunk` into `*content`, a buffer for
/// the caller to free, NULL if it is empty, and its length into `*content_len`.
///
/// Returns its position. -16 when there is none with that name, -12 for NULL or a name of more than 31 bytes,
/// -3 for a damaged content; -5 for one that cannot be decompressed, with NULL and 0 stored.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_vlmeta_get(
    schunk: *mut blosc2_schunk,
    name: *const c_char,
    content: *mut *mut u8,
    content_len: *mut i32,
) -> c_int {
    code(|| {
        there(schunk)?;
        if content.is_null() || content_len.is_null() {
            return Err(err!(InvalidParam, "no place for the content"));
        }
        // SAFETY: by the rules of the module.
        let (at, decoded) = unsafe { self::schunk(schunk)?.vlmeta_get(string(name)?) }?;
        let (bytes, len, result) = match decoded {
            Ok(bytes) if bytes.is_empty() => (ptr::null_mut(), 0, Ok(at)),
            Ok(bytes) => {
                let len = bytes.len();
                (Malloced::into_raw(bytes), len, Ok(at))
            }
            Err(error) => (ptr::null_mut(), 0, Err(err!(ReadBuffer, "{error}"))),
        };
        // SAFETY: not NULL, and writable by the rules.
        unsafe {
            store(content, bytes);
            store(content_len, len as i32);
        }
        result
    })
}

/// Removes the metalayer of variable length `name` of `schunk`; those behind it move up.
///
/// Returns how many there are then. -16 when there is none with that name, -12 for NULL or a name of more
/// than 31 bytes, another negative code when the frame cannot be written.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_vlmeta_delete(schunk: *mut blosc2_schunk, name: *const c_char) -> c_int {
    code(|| {
        there(schunk)?;
        // SAFETY: by the rules of the module.
        unsafe { self::schunk(schunk)?.vlmeta_delete(string(name)?) }
    })
}

/// Stores pointers to the names of the metalayers of variable length into `names`, which has room for
/// `schunk->nvlmetalayers`. They stay the super-chunk's and are valid until
/// these metalayers change.
///
/// Returns how many; -32 for NULL.
///
/// # Safety
/// The rules of the module `capi`; `names` has room for all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_vlmeta_get_names(
    schunk: *mut blosc2_schunk,
    names: *mut *mut c_char,
) -> c_int {
    code(|| {
        // SAFETY: by the rules of the module.
        let all = unsafe { self::schunk(schunk) }?.vlmeta_names();
        if names.is_null() && !all.is_empty() {
            return Err(err!(NullPointer, "no place for the names"));
        }
        for (n, name) in all.iter().enumerate() {
            // SAFETY: by the rules there is room for all.
            unsafe { names.add(n).write(*name) };
        }
        Ok(all.len())
    })
}
