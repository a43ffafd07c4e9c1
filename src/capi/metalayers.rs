//! Metalayers of super-chunks (`abi.md` 2.6). The functions that look up fixed metalayers are inline code of the
//! headers.

use super::ffi::result_code;
use super::pointers::{CStruct, CText, Handle, Input, Names, Out, OutArray, Size, SourceBuffer};
use crate::abi::{blosc2_cparams, blosc2_schunk};
use crate::error::{ErrorKind, Result, ensure, err, to_kind};
use crate::malloc::MallocBytes;
use crate::schunk::SuperChunk;
use std::ffi::{CStr, c_char, c_int};

/// Returns a name and a content of the C caller.
fn name_and_content<'call>(
    name: CText<'call, *const c_char>,
    content: SourceBuffer<'call, *mut u8>,
    content_len: Size<'call, i32, Input>,
) -> Result<(&'call CStr, &'call [u8])> {
    let len = content_len.non_negative_len()?;
    if content.is_null() && len.get() > 0 {
        return Err(err!(InvalidParam, "`content` is NULL, expected {} bytes", len.get()));
    }
    Ok((name.get()?, content.bytes(len)?))
}

/// Returns the super-chunk; NULL is the error `InvalidParam` here.
fn schunk_param<'call>(schunk: &Handle<'call, *mut blosc2_schunk>) -> Result<&'call SuperChunk> {
    ensure!(!schunk.is_null(), InvalidParam, "the super-chunk is NULL");
    schunk.get()
}

/// Adds a fixed metalayer to `schunk`: `name`, a string of at most 31 bytes, and the `content_len` bytes at
/// `content`. Both are copied. The length of the content cannot change later. A frame takes metalayers only before
/// its first chunk; a contiguous frame takes none after all of its chunks were deleted either.
///
/// Returns the index of the metalayer. Errors: -12 when a pointer is NULL, for a name of more than 31 bytes or one
/// that exists already, for a 17th metalayer, for an invalid length, and for a frame with chunks; another negative
/// code when the frame cannot be written.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_meta_add(
    schunk: Handle<*mut blosc2_schunk>,
    name: CText<*const c_char>,
    content: SourceBuffer<*mut u8>,
    content_len: Size<i32, Input>,
) -> c_int {
    result_code(|| {
        let schunk = schunk_param(&schunk)?;
        let (name, content) = name_and_content(name, content, content_len)?;
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
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_meta_update(
    schunk: Handle<*mut blosc2_schunk>,
    name: CText<*const c_char>,
    content: SourceBuffer<*mut u8>,
    content_len: Size<i32, Input>,
) -> c_int {
    result_code(|| {
        let schunk = schunk_param(&schunk)?;
        let (name, content) = name_and_content(name, content, content_len)?;
        schunk.meta_update(name, content)
    })
}

/// Looks up the variable-length metalayer `name` of `schunk`. If another process has changed the frame, its
/// metalayers are read again first.
///
/// Returns the index of the metalayer. Errors: -16 when there is no metalayer with that name, -12 when a pointer
/// is NULL and for a name of more than 31 bytes, -37 when the lock cannot be acquired.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_vlmeta_exists(
    schunk: Handle<*mut blosc2_schunk>,
    name: CText<*const c_char>,
) -> c_int {
    result_code(|| schunk_param(&schunk)?.vlmeta_exists(name.get()?))
}

/// Compresses the `content_len` bytes at `content` and adds them to `schunk` as the variable-length metalayer
/// `name`, a string of at most 31 bytes. `cparams` are the compression parameters; NULL means the default ones.
/// Name, content and parameters are copied. A super-chunk can have 8192 variable-length metalayers, and 16 in a
/// frame.
///
/// Returns the index of the metalayer. Errors: -12 when a pointer is NULL, for a name of more than 31 bytes or one
/// that exists already, for the 8193rd, and for an invalid length; -1 for the 17th in a frame; -32 when no context
/// can be created with `cparams`; another negative code when the content cannot be compressed or written.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_vlmeta_add(
    schunk: Handle<*mut blosc2_schunk>,
    name: CText<*const c_char>,
    content: SourceBuffer<*mut u8>,
    content_len: Size<i32, Input>,
    cparams: CStruct<*mut blosc2_cparams>,
) -> c_int {
    result_code(|| {
        let schunk = schunk_param(&schunk)?;
        let (name, content) = name_and_content(name, content, content_len)?;
        let cparams = cparams.get();
        // SAFETY: the ABI requires that the pointers in the caller's `cparams` are valid during the call.
        unsafe { schunk.vlmeta_add(name, content, cparams) }
    })
}

/// Replaces the content of the variable-length metalayer `name` of `schunk` by the `content_len` bytes at
/// `content`, compressed with `cparams`; NULL means the default parameters. Content and parameters are copied. The
/// new content may have another length.
///
/// Returns the index of the metalayer. Errors: -16 when there is no metalayer with that name, otherwise as
/// `blosc2_vlmeta_add`.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_vlmeta_update(
    schunk: Handle<*mut blosc2_schunk>,
    name: CText<*const c_char>,
    content: SourceBuffer<*mut u8>,
    content_len: Size<i32, Input>,
    cparams: CStruct<*mut blosc2_cparams>,
) -> c_int {
    result_code(|| {
        let schunk = schunk_param(&schunk)?;
        let (name, content) = name_and_content(name, content, content_len)?;
        let cparams = cparams.get();
        // SAFETY: the ABI requires that the pointers in the caller's `cparams` are valid during the call.
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
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_vlmeta_get(
    schunk: Handle<*mut blosc2_schunk>,
    name: CText<*const c_char>,
    content: Out<*mut *mut u8>,
    content_len: Out<*mut i32>,
) -> c_int {
    result_code(|| {
        let (content, content_len) = (content.cleared(), content_len.cleared());
        let schunk = schunk_param(&schunk)?;
        if content.is_null() || content_len.is_null() {
            return Err(err!(InvalidParam, "`content` or `content_len` is NULL"));
        }
        let (at, decoded) = schunk.vlmeta_get(name.get()?)?;
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
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_vlmeta_delete(
    schunk: Handle<*mut blosc2_schunk>,
    name: CText<*const c_char>,
) -> c_int {
    result_code(|| schunk_param(&schunk)?.vlmeta_delete(name.get()?))
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
    schunk: Handle<*mut blosc2_schunk>,
    names: OutArray<*mut *mut c_char, Names>,
) -> c_int {
    result_code(|| {
        let all = schunk.get()?.vlmeta_names()?;
        if names.is_null() && !all.is_empty() {
            return Err(err!(NullPointer, "`names` is NULL, expected space for {} names", all.len()));
        }
        // SAFETY: the caller provides space for the names of all variable-length metalayers.
        let places = unsafe { names.first_places(all.len()) };
        for (n, name) in all.iter().enumerate() {
            places.store_at(n, *name);
        }
        Ok(all.len())
    })
}
