//! Chunks that are made of a header alone, or of a header and a value (`chunk.md` 3.12).

use super::ffi::{code, destination, length, room, source};
use crate::abi::blosc2_cparams;
use crate::chunk::Special;
use crate::chunk::format::EXTENDED_HEADER_LENGTH;
use crate::err;
use crate::error::Result;
use crate::pipeline::context::Context;
use std::ffi::{c_int, c_void};

/// Makes a special chunk.
///
/// # Safety
/// The rules of the module `capi`; `value` has `typesize` bytes where the kind has a value.
unsafe fn special_chunk(
    kind: Special,
    cparams: &blosc2_cparams,
    nbytes: i32,
    dest: *mut c_void,
    destsize: i32,
    value: *const c_void,
) -> Result<usize> {
    if cparams.typesize <= 0 {
        return Err(err!(InvalidParam, "typesize {} is less than 1", cparams.typesize));
    }
    let width = if kind == Special::Value { length(cparams.typesize)? } else { 0 };
    if room(destsize) < EXTENDED_HEADER_LENGTH + width {
        return Err(err!(Data, "a special chunk does not fit into {destsize} bytes"));
    }
    if nbytes % cparams.typesize != 0 && (nbytes > 0 || kind != Special::Zero) {
        return Err(err!(Data, "{nbytes} bytes are no multiple of the typesize {}", cparams.typesize));
    }
    let nbytes = length(nbytes)?;
    // SAFETY: by the caller's word.
    let (dest, value) = unsafe { (destination(dest, room(destsize))?, source(value, width)?) };
    // SAFETY: by the caller's word.
    let context = unsafe { Context::for_compression(cparams) }
        .map_err(|error| err!(NullPointer, "no context can be made: {error}"))?;
    context.special_chunk(kind, nbytes, value, dest)
}

/// Writes a 32-byte chunk that stands for `nbytes` zero bytes to `dest`, which has room for `destsize` bytes.
/// The header is as `cparams` says.
///
/// Returns 32. -3 for less room or an `nbytes` that is no multiple of the item size, -32 for parameters of
/// which no context can be made, or the codes of `blosc2_compress_ctx`.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_chunk_zeros(
    cparams: blosc2_cparams,
    nbytes: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    // SAFETY: by the rules of the module.
    code(|| unsafe { special_chunk(Special::Zero, &cparams, nbytes, dest, destsize, std::ptr::null()) })
}

/// Writes a 32-byte chunk that stands for `nbytes` bytes of NaNs to `dest`, which has room for `destsize`
/// bytes. The header is as `cparams` says. Only item sizes 4 and 8 can be decompressed.
///
/// Returns 32, or a code as `blosc2_chunk_zeros`.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_chunk_nans(
    cparams: blosc2_cparams,
    nbytes: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    // SAFETY: by the rules of the module.
    code(|| unsafe { special_chunk(Special::Nan, &cparams, nbytes, dest, destsize, std::ptr::null()) })
}

/// Writes a chunk that repeats the item at `repeatval`, `cparams.typesize` bytes wide, over `nbytes` bytes,
/// to `dest`, which has room for `destsize` bytes.
///
/// Returns its size, 32 plus that of an item, or a code as `blosc2_chunk_zeros`.
///
/// # Safety
/// The rules of the module `capi`; `repeatval` points at one item.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_chunk_repeatval(
    cparams: blosc2_cparams,
    nbytes: i32,
    dest: *mut c_void,
    destsize: i32,
    repeatval: *const c_void,
) -> c_int {
    // SAFETY: by the rules of the module.
    code(|| unsafe { special_chunk(Special::Value, &cparams, nbytes, dest, destsize, repeatval) })
}

/// Writes a 32-byte chunk that stands for `nbytes` bytes nobody has set to `dest`, which has room for
/// `destsize` bytes. The header is as `cparams` says. Decompressing it leaves the destination as it is.
///
/// Returns 32, or a code as `blosc2_chunk_zeros`.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_chunk_uninit(
    cparams: blosc2_cparams,
    nbytes: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    // SAFETY: by the rules of the module.
    code(|| unsafe { special_chunk(Special::Uninit, &cparams, nbytes, dest, destsize, std::ptr::null()) })
}
