//! Metalayers of super-chunks (`abi.md` 2.6). The functions that look up fixed metalayers are inline code of the
//! headers.

use super::ffi::{Out, c_str, non_negative_len, result_code, schunk_ref, source_slice};
use crate::abi::{blosc2_cparams, blosc2_schunk};
use crate::err;
use crate::error::{ErrorKind, Result, to_kind};
use crate::malloc::MallocBytes;
use std::ffi::{CStr, c_char, c_int};

/// Returns a name and a content of the C caller.
///
/// # Safety
/// The rules of the module `capi`.
unsafe fn name_and_content<'a>(
    name: *const c_char,
    content: *const u8,
    content_len: i32,
) -> Result<(&'a CStr, &'a [u8])> {
    let len = non_negative_len(content_len)?;
    if content.is_null() && len > 0 {
        return Err(err!(InvalidParam, "`content` is NULL, expected {len} bytes"));
    }
    // SAFETY: by the contract of this function.
    Ok(unsafe { (c_str(name)?, source_slice(content.cast(), len)?) })
}

/// Checks that the super-chunk is not NULL; NULL is the error `InvalidParam` here.
fn check_schunk_param(schunk: *mut blosc2_schunk) -> Result<()> {
    if schunk.is_null() {
        return Err(err!(InvalidParam, "the super-chunk is NULL"));
    }
    Ok(())
}

/// Adds a fixed metalayer to `schunk`: `name`, a string of at most 31 bytes, and the `content_len` bytes at
/// `content`. Both are copied. The length of the content cannot change later. A frame takes metalayers only before
/// its first chunk; a contiguous frame takes none after all of its chunks were deleted either.
///
/// Returns the index of the metalayer. Errors: -12 when a pointer is NULL, for a name of more than 31 bytes or one
/// that exists already, for a 17th metalayer, for an invalid length, and for a frame with chunks; another negative
/// code when the frame cannot be written.
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
    result_code(|| {
        check_schunk_param(schunk)?;
        // SAFETY: by the rules of the module.
        let (schunk, (name, content)) =
            unsafe { (self::schunk_ref(schunk)?, name_and_content(name, content, content_len)?) };
        schunk.meta_add(name, content)
    })
}

/// Overwrites the beginning of the content of the fixed metalayer `name` of `schunk` with the `content_len` bytes
/// at `content`, which are copied. The length of the metalayer does not change. If `content_len` is greater than
/// that length, nothing changes, and no error is returned.
///
/// Returns the index of the metalayer. Errors: -16 when there is no metalayer with that name; -12 when `schunk` or
/// `name` is NULL, when `content` is NULL and `content_len` is not 0, for a name of more than 31 bytes and for an
/// invalid length; another negative code when the frame cannot be written.
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
    result_code(|| {
        check_schunk_param(schunk)?;
        // SAFETY: by the rules of the module.
        let (schunk, (name, content)) =
            unsafe { (self::schunk_ref(schunk)?, name_and_content(name, content, content_len)?) };
        schunk.meta_update(name, content)
    })
}

/// Looks up the variable-length metalayer `name` of `schunk`. If another process has changed the frame, its
/// metalayers are read again first.
///
/// Returns the index of the metalayer. Errors: -16 when there is no metalayer with that name, -12 when a pointer
/// is NULL and for a name of more than 31 bytes, -37 when the lock cannot be acquired.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_vlmeta_exists(schunk: *mut blosc2_schunk, name: *const c_char) -> c_int {
    result_code(|| {
        check_schunk_param(schunk)?;
        // SAFETY: by the rules of the module.
        unsafe { self::schunk_ref(schunk)?.vlmeta_exists(c_str(name)?) }
    })
}

/// Compresses the `content_len` bytes at `content` and adds them to `schunk` as the variable-length metalayer
/// `name`, a string of at most 31 bytes. `cparams` are the compression parameters; NULL means the default ones.
/// Name, content and parameters are copied. A super-chunk can have 8192 variable-length metalayers, and 16 in a
/// frame.
///
/// Returns the index of the metalayer. Errors: -12 when a pointer is NULL, for a name of more than 31 bytes or one
/// that exists already, for the 8193rd, and for an invalid length; -1 for the 17th in a frame; -32 when no context
/// can be created with `cparams`; another negative code when the content cannot be compressed or written.
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
    result_code(|| {
        check_schunk_param(schunk)?;
        // SAFETY: by the rules of the module.
        let (schunk, (name, content), cparams) = unsafe {
            (self::schunk_ref(schunk)?, name_and_content(name, content, content_len)?, cparams.as_ref())
        };
        // SAFETY: as above.
        unsafe { schunk.vlmeta_add(name, content, cparams) }
    })
}

/// Replaces the content of the variable-length metalayer `name` of `schunk` by the `content_len` bytes at
/// `content`, compressed with `cparams`; NULL means the default parameters. Content and parameters are copied. The
/// new content may have another length.
///
/// Returns the index of the metalayer. Errors: -16 when there is no metalayer with that name, otherwise as
/// `blosc2_vlmeta_add`.
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
    result_code(|| {
        check_schunk_param(schunk)?;
        // SAFETY: by the rules of the module.
        let (schunk, (name, content), cparams) = unsafe {
            (self::schunk_ref(schunk)?, name_and_content(name, content, content_len)?, cparams.as_ref())
        };
        // SAFETY: as above.
        unsafe { schunk.vlmeta_update(name, content, cparams) }
    })
}

/// Decompresses the content of the variable-length metalayer `name` of `schunk` into a buffer from `malloc`.
/// Stores its address in `*content`, which the caller frees with `free()`, and its length in bytes in
/// `*content_len`. For an empty content `*content` is NULL.
///
/// Returns the index of the metalayer. Errors: -16 when there is no metalayer with that name, -12 when a pointer
/// is NULL and for a name of more than 31 bytes, -3 for a damaged content, -5 for a content that cannot be
/// decompressed; NULL and 0 are stored after an error.
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
    result_code(|| {
        // SAFETY: by the rules of the module.
        let (content, content_len) = unsafe { (Out::cleared(content), Out::cleared(content_len)) };
        check_schunk_param(schunk)?;
        if content.is_null() || content_len.is_null() {
            return Err(err!(InvalidParam, "`content` or `content_len` is NULL"));
        }
        // SAFETY: by the rules of the module.
        let (at, decoded) = unsafe { self::schunk_ref(schunk)?.vlmeta_get(c_str(name)?) }?;
        let bytes = decoded.map_err(to_kind(ErrorKind::ReadBuffer))?;
        if !bytes.is_empty() {
            content_len.store(bytes.len() as i32);
            content.store(MallocBytes::into_raw(bytes));
        }
        Ok(at)
    })
}

/// Deletes the variable-length metalayer `name` of `schunk`. The indices of the metalayers after it decrease by
/// one.
///
/// Returns the number of remaining variable-length metalayers. Errors: -16 when there is no metalayer with that
/// name, -12 when a pointer is NULL and for a name of more than 31 bytes, another negative code when the frame
/// cannot be written.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_vlmeta_delete(schunk: *mut blosc2_schunk, name: *const c_char) -> c_int {
    result_code(|| {
        check_schunk_param(schunk)?;
        // SAFETY: by the rules of the module.
        unsafe { self::schunk_ref(schunk)?.vlmeta_delete(c_str(name)?) }
    })
}

/// Stores pointers to the names of the variable-length metalayers of `schunk` in the array `names`, which must
/// have room for `schunk->nvlmetalayers` pointers. The strings belong to the super-chunk and must not be freed;
/// they are valid until its variable-length metalayers change.
///
/// Returns the number of names, or -32 when a pointer is NULL.
///
/// # Safety
/// The rules of the module `capi`; `names` has room for all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_vlmeta_get_names(
    schunk: *mut blosc2_schunk,
    names: *mut *mut c_char,
) -> c_int {
    result_code(|| {
        // SAFETY: by the rules of the module.
        let all = unsafe { self::schunk_ref(schunk) }?.vlmeta_names()?;
        if names.is_null() && !all.is_empty() {
            return Err(err!(NullPointer, "`names` is NULL, expected space for {} names", all.len()));
        }
        for (n, name) in all.iter().enumerate() {
            // SAFETY: by the rules there is room for all.
            unsafe { names.add(n).write(*name) };
        }
        Ok(all.len())
    })
}
