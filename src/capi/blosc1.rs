//! Functions on chunks that need no context: compress, decompress, read items (`abi.md` 2.3).

use super::ffi::{dest_buffer, len_or_zero, non_negative_len, result_code, source_slice};
use crate::chunk::format::{MAX_BUFFERSIZE, MIN_HEADER_LENGTH};
use crate::chunk::{ChunkHeader, ParsedChunk};
use crate::err;
use crate::error::Result;
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
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc1_compress(
    clevel: c_int,
    doshuffle: c_int,
    typesize: usize,
    nbytes: usize,
    src: *const c_void,
    dest: *mut c_void,
    destsize: usize,
) -> c_int {
    result_code(|| {
        if nbytes > MAX_BUFFERSIZE {
            return Err(err!(MaxBufsizeExceeded, "`nbytes` is {nbytes}, expected at most {MAX_BUFFERSIZE}"));
        }
        let Ok(typesize) = i32::try_from(typesize) else {
            return Err(err!(InvalidParam, "`typesize` is {typesize}, expected at most {}", i32::MAX));
        };
        // The size of a chunk is an i32.
        let destsize = destsize.min(i32::MAX as usize);
        // SAFETY: by the rules of the module.
        let (src, dest) = unsafe { (source_slice(src, nbytes)?, dest_buffer(dest, destsize)?) };
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
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_compress(
    clevel: c_int,
    doshuffle: c_int,
    typesize: i32,
    src: *const c_void,
    srcsize: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    result_code(|| {
        // SAFETY: by the rules of the module.
        let (src, dest) = unsafe {
            (source_slice(src, non_negative_len(srcsize)?)?, dest_buffer(dest, len_or_zero(destsize))?)
        };
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
pub unsafe extern "C" fn blosc1_decompress(src: *const c_void, dest: *mut c_void, destsize: usize) -> c_int {
    result_code(|| {
        let destsize = destsize.min(i32::MAX as usize);
        // SAFETY: by the rules of the module, and the function's own.
        let (chunk, dest) = unsafe { (whole_chunk(src)?, dest_buffer(dest, destsize)?) };
        contextless::decompress(chunk, dest)
    })
}

/// Decompresses the chunk at `src` into `dest`, with the global number of threads. `srcsize` is the number of
/// readable bytes at `src`: at least the size of the chunk. `destsize` is the size of `dest` in bytes.
///
/// Returns the number of bytes written to `dest`. Errors: -6 when the content does not fit into `destsize` bytes,
/// -12 when `BLOSC_NTHREADS` has an invalid value, another negative code for a damaged chunk; the content of `dest`
/// is undefined after an error.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_decompress(
    src: *const c_void,
    srcsize: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    result_code(|| {
        // SAFETY: by the rules of the module.
        let (chunk, dest) =
            unsafe { (source_slice(src, len_or_zero(srcsize))?, dest_buffer(dest, len_or_zero(destsize))?) };
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
    src: *const c_void,
    start: c_int,
    nitems: c_int,
    dest: *mut c_void,
) -> c_int {
    result_code(|| {
        // SAFETY: by the function's own rules.
        let chunk = unsafe { whole_chunk(src) }?;
        let typesize = usize::from(ChunkHeader::parse_basic(chunk)?.typesize);
        let wanted = len_or_zero(nitems).saturating_mul(typesize).min(i32::MAX as usize);
        // SAFETY: as above.
        let dest = unsafe { dest_buffer(dest, wanted) }?;
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
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_getitem(
    src: *const c_void,
    srcsize: i32,
    start: c_int,
    nitems: c_int,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    result_code(|| {
        // SAFETY: by the rules of the module.
        let (chunk, dest) =
            unsafe { (source_slice(src, len_or_zero(srcsize))?, dest_buffer(dest, len_or_zero(destsize))?) };
        decompress_items(chunk, start, nitems, dest)
    })
}

fn decompress_items(chunk: &[u8], start: c_int, nitems: c_int, dest: OutBuffer<'_>) -> Result<usize> {
    let wanted = ItemRange::Items { start, nitems };
    let mut header = ChunkHeader::default();
    let chunk = ParsedChunk::parse(&mut header, chunk)?;
    Ok(getitem(&DecompressParams::default(), &chunk, wanted, dest)?.nbytes)
}

/// Returns the bytes of the chunk at `src`; their number is read from its header.
///
/// # Safety
/// `src` is NULL or points at a whole chunk.
unsafe fn whole_chunk<'a>(src: *const c_void) -> Result<&'a [u8]> {
    // SAFETY: a chunk has at least a short header.
    let header = ChunkHeader::parse_basic(unsafe { source_slice(src, MIN_HEADER_LENGTH) }?)?;
    // SAFETY: by the contract of this function.
    unsafe { source_slice(src, len_or_zero(header.cbytes)) }
}
