//! Special chunks: they consist of a header, or of a header and one value (`chunk.md` 3.12).

use super::ffi::{non_negative_len, result_code};
use super::pointers::{DestBuffer, Output, Parameters, Size, SourceBuffer};
use crate::abi::blosc2_cparams;
use crate::chunk::SpecialValue;
use crate::chunk::format::EXTENDED_HEADER_LENGTH;
use crate::error::{ErrorKind, Result, ensure, to_kind};
use std::ffi::{c_int, c_void};

/// Writes a special chunk. `value` returns the bytes of its value, given their number.
fn write_special_chunk<'call>(
    kind: SpecialValue,
    parameters: &Parameters<'_, blosc2_cparams>,
    nbytes: i32,
    dest: DestBuffer<'_, *mut c_void>,
    destsize: Size<'_, i32, Output>,
    value: impl FnOnce(usize) -> Result<&'call [u8]>,
) -> Result<usize> {
    let cparams = parameters.get();
    ensure!(cparams.typesize > 0, InvalidParam, "`typesize` is {}, expected at least 1", cparams.typesize);
    let width = if kind == SpecialValue::Value { non_negative_len(cparams.typesize)? } else { 0 };
    ensure!(
        destsize.len_or_zero().get() >= EXTENDED_HEADER_LENGTH + width,
        Data,
        "`destsize` is {}, expected at least {}",
        destsize.number(),
        EXTENDED_HEADER_LENGTH + width,
    );
    ensure!(
        nbytes % cparams.typesize == 0 || (nbytes <= 0 && kind == SpecialValue::Zero),
        Data,
        "`nbytes` is {nbytes}, expected a multiple of the typesize {}",
        cparams.typesize,
    );
    let nbytes = non_negative_len(nbytes)?;
    let dest = dest.buffer(destsize.len_or_zero())?;
    let value = value(width)?;
    let context = parameters.context().map_err(to_kind(ErrorKind::NullPointer))?;
    context.compress_special_chunk(kind, nbytes, value, dest)
}

/// Writes a chunk of 32 bytes to `dest` that represents `nbytes` bytes of zeros. `cparams` supplies the fields of
/// the header; `nbytes` must be a multiple of its `typesize`. `destsize` is the size of `dest` in bytes.
///
/// Returns 32. Errors: -12 for an item size below 1, -3 when `destsize` is too small or `nbytes` is no multiple of
/// the item size, -32 when no context can be created with `cparams`, or the codes of `blosc2_compress_ctx`.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_chunk_zeros(
    cparams: Parameters<blosc2_cparams>,
    nbytes: i32,
    dest: DestBuffer<*mut c_void>,
    destsize: Size<i32, Output>,
) -> c_int {
    result_code(|| write_special_chunk(SpecialValue::Zero, &cparams, nbytes, dest, destsize, |_| Ok(&[])))
}

/// Writes a chunk of 32 bytes to `dest` that represents `nbytes` bytes of NaNs. `cparams` supplies the fields of
/// the header; `nbytes` must be a multiple of its `typesize`. Only chunks of 4-byte and 8-byte items can be
/// decompressed. `destsize` is the size of `dest` in bytes.
///
/// Returns 32, or an error code as `blosc2_chunk_zeros`.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_chunk_nans(
    cparams: Parameters<blosc2_cparams>,
    nbytes: i32,
    dest: DestBuffer<*mut c_void>,
    destsize: Size<i32, Output>,
) -> c_int {
    result_code(|| write_special_chunk(SpecialValue::Nan, &cparams, nbytes, dest, destsize, |_| Ok(&[])))
}

/// Writes a chunk to `dest` that represents `nbytes` bytes in which every item equals the item at `repeatval`,
/// which has `cparams.typesize` bytes. `cparams` supplies the fields of the header; `nbytes` must be a multiple of
/// its `typesize`. `destsize` is the size of `dest` in bytes.
///
/// Returns the size of the chunk in bytes, 32 plus the item size, or an error code as `blosc2_chunk_zeros`.
///
/// # Safety
/// The rules of the module `capi`; `repeatval` points at one item.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_chunk_repeatval(
    cparams: Parameters<blosc2_cparams>,
    nbytes: i32,
    dest: DestBuffer<*mut c_void>,
    destsize: Size<i32, Output>,
    repeatval: SourceBuffer<*const c_void>,
) -> c_int {
    // SAFETY: the caller provides one item, which has `width` bytes.
    let value = |width| unsafe { repeatval.first_bytes(width) };
    result_code(|| write_special_chunk(SpecialValue::Value, &cparams, nbytes, dest, destsize, value))
}

/// Writes a chunk of 32 bytes to `dest` that represents `nbytes` bytes of unspecified content. Decompressing it
/// does not write to the destination. `cparams` supplies the fields of the header; `nbytes` must be a multiple of
/// its `typesize`. `destsize` is the size of `dest` in bytes.
///
/// Returns 32, or an error code as `blosc2_chunk_zeros`.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_chunk_uninit(
    cparams: Parameters<blosc2_cparams>,
    nbytes: i32,
    dest: DestBuffer<*mut c_void>,
    destsize: Size<i32, Output>,
) -> c_int {
    result_code(|| write_special_chunk(SpecialValue::Uninit, &cparams, nbytes, dest, destsize, |_| Ok(&[])))
}
