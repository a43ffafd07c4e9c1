//! Functions on chunks that need no context: compress, decompress, read items (`abi.md` 2.3).

use super::ffi::result_code;
use super::pointers::{DestBuffer, Input, Output, Size, SourceBuffer, UnsizedChunk};
use crate::chunk::format::{LONGER_CONTENT, MAX_BUFFERSIZE};
use crate::chunk::{ChunkHeader, ParsedChunk};
use crate::error::{Result, err};
use crate::out_buffer::OutBuffer;
use crate::pipeline::contextless;
use crate::pipeline::decompress::{ItemRange, getitem};
use crate::pipeline::params::DecompressParams;
use std::ffi::{c_int, c_void};

/// Compresses the `nbytes` bytes at `src`, items of `typesize` bytes, into a chunk at `dest`, which has room for
/// `destsize` bytes. Does the same as `blosc2_compress`, also with `clevel` and `doshuffle`, but takes sizes as
/// `size_t`; a `typesize` above `INT32_MAX` is an error.
///
/// Returns the size of the chunk in bytes; 0 when it does not fit into `destsize` bytes; the negative codes of
/// `blosc2_compress`.
#[unsafe(no_mangle)]
pub extern "C" fn blosc1_compress(
    clevel: c_int,
    doshuffle: c_int,
    typesize: usize,
    nbytes: Size<usize, Input>,
    src: SourceBuffer<*const c_void>,
    dest: DestBuffer<*mut c_void>,
    destsize: Size<usize, Output>,
) -> c_int {
    result_code(|| {
        let srcsize = nbytes.len_or_zero();
        let nbytes = srcsize.get();
        if nbytes > MAX_BUFFERSIZE {
            return Err(err!(
                MaxBufsizeExceeded,
                "`nbytes` is {nbytes}, expected at most {MAX_BUFFERSIZE}; {LONGER_CONTENT}"
            ));
        }
        let Ok(typesize) = i32::try_from(typesize) else {
            return Err(err!(InvalidParam, "`typesize` is {typesize}, expected at most {}", i32::MAX));
        };
        // The size of a chunk is an i32.
        let destsize = destsize.len_or_zero().min(i32::MAX as usize);
        let (src, dest) = (src.bytes(srcsize)?, dest.buffer(destsize)?);
        contextless::compress(clevel, doshuffle, typesize, src, dest)
    })
}

/// Compresses the `srcsize` bytes at `src`, items of `typesize` bytes, into a chunk at `dest`. The codec, the
/// block size, the split mode, the delta filter and the number of threads are the global settings
/// (`blosc1_set_compressor` and so on). Environment variables such as `BLOSC_CLEVEL` override arguments and
/// settings.
///
/// `clevel` is the compression level, 0 (store) to 9. `doshuffle` is `BLOSC_NOSHUFFLE`, `BLOSC_SHUFFLE` or
/// `BLOSC_BITSHUFFLE`. `destsize` is the size of the destination in bytes; `srcsize + BLOSC2_MAX_OVERHEAD` bytes
/// are always enough.
///
/// Returns the size of the chunk in bytes; 0 when it does not fit into `destsize` bytes. Errors: -8 for an invalid
/// level, -12 for an invalid item size or a negative `srcsize`, -35 for a source above `BLOSC2_MAX_BUFFERSIZE` or
/// a destination below 32 bytes, -7 for an unknown compressor.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_compress(
    clevel: c_int,
    doshuffle: c_int,
    typesize: i32,
    src: SourceBuffer<*const c_void>,
    srcsize: Size<i32, Input>,
    dest: DestBuffer<*mut c_void>,
    destsize: Size<i32, Output>,
) -> c_int {
    result_code(|| {
        let src = src.bytes(srcsize.non_negative_len()?)?;
        let dest = dest.buffer(destsize.len_or_zero())?;
        contextless::compress(clevel, doshuffle, typesize, src, dest)
    })
}

/// Decompresses the chunk at `src` into `dest`, which has room for `destsize` bytes. The size of the chunk is read
/// from its header, so the header must be valid; use `blosc2_decompress` for untrusted data.
///
/// Returns the number of bytes written to `dest`, or a negative error code as `blosc2_decompress`.
///
/// # Safety
/// The rules of the module `capi`; `src` points at a whole chunk.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc1_decompress(
    src: UnsizedChunk<*const c_void>,
    dest: DestBuffer<*mut c_void>,
    destsize: Size<usize, Output>,
) -> c_int {
    result_code(|| {
        let destsize = destsize.len_or_zero().min(i32::MAX as usize);
        let (chunk, dest) = (src.bytes()?, dest.buffer(destsize)?);
        contextless::decompress(chunk, dest)
    })
}

/// Decompresses the chunk at `src` into `dest`, with the global number of threads. `srcsize` is the number of
/// readable bytes at `src`: at least the size of the chunk. `destsize` is the size of `dest` in bytes.
///
/// Returns the number of bytes written to `dest`. Errors: -6 when the content does not fit into `destsize` bytes,
/// -12 when `BLOSC_NTHREADS` has an invalid value, another negative code for a damaged chunk; the content of `dest`
/// is undefined after an error.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_decompress(
    src: SourceBuffer<*const c_void>,
    srcsize: Size<i32, Input>,
    dest: DestBuffer<*mut c_void>,
    destsize: Size<i32, Output>,
) -> c_int {
    result_code(|| {
        let chunk = src.bytes(srcsize.len_or_zero())?;
        let dest = dest.buffer(destsize.len_or_zero())?;
        contextless::decompress(chunk, dest)
    })
}

/// Decompresses `nitems` items of the chunk at `src`, from item `start` on, into `dest`. Does the same as
/// `blosc2_getitem`, without checks of the buffer sizes: the size of the chunk is read from its header, and `dest`
/// must have room for `nitems` items.
///
/// Returns the number of bytes written to `dest`, or a negative error code as `blosc2_getitem`.
///
/// # Safety
/// The rules of the module `capi`; `src` points at a whole chunk, and `dest` has room for the items.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc1_getitem(
    src: UnsizedChunk<*const c_void>,
    start: c_int,
    nitems: c_int,
    dest: DestBuffer<*mut c_void>,
) -> c_int {
    result_code(|| {
        let chunk = src.bytes()?;
        let typesize = usize::from(ChunkHeader::parse_basic(chunk)?.typesize);
        let wanted = usize::try_from(nitems).unwrap_or(0).saturating_mul(typesize).min(i32::MAX as usize);
        // SAFETY: the caller provides space for `nitems` items, which are `wanted` bytes or more.
        let dest = unsafe { dest.first_bytes(wanted) }?;
        decompress_items(chunk, start, nitems, dest)
    })
}

/// Decompresses `nitems` items of the chunk at `src`, from item `start` (counted from 0) on, into `dest`. Only the
/// blocks that hold these items are decompressed. `srcsize` is the number of readable bytes at `src`; `destsize`
/// is the size of `dest` in bytes. The item size is the one in the header of the chunk, which is 1 for chunks of
/// items above 255 bytes.
///
/// Returns the number of bytes written to `dest`. Errors: -12 for items outside the chunk, -6 when the items do
/// not fit into `destsize` bytes, another negative code for a damaged chunk.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_getitem(
    src: SourceBuffer<*const c_void>,
    srcsize: Size<i32, Input>,
    start: c_int,
    nitems: c_int,
    dest: DestBuffer<*mut c_void>,
    destsize: Size<i32, Output>,
) -> c_int {
    result_code(|| {
        let chunk = src.bytes(srcsize.len_or_zero())?;
        let dest = dest.buffer(destsize.len_or_zero())?;
        decompress_items(chunk, start, nitems, dest)
    })
}

fn decompress_items(chunk: &[u8], start: c_int, nitems: c_int, dest: OutBuffer<'_>) -> Result<usize> {
    let wanted = ItemRange::Items { start, nitems };
    let mut header = ChunkHeader::default();
    let chunk = ParsedChunk::parse(&mut header, chunk)?;
    Ok(getitem(&DecompressParams::default(), &chunk, wanted, dest)?.nbytes)
}
