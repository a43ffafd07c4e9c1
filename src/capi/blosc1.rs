//! Buffers without a context: compress, decompress, read items (`abi.md` 2.3).

use super::ffi::{code, destination, length, room, source};
use crate::chunk::format::{MAX_BUFFERSIZE, MIN_HEADER_LENGTH};
use crate::chunk::{ChunkHeader, StoredChunk};
use crate::err;
use crate::error::Result;
use crate::out_buffer::OutBuffer;
use crate::pipeline::decompress::{ItemRange, getitem};
use crate::pipeline::global;
use crate::pipeline::params::DecompressParams;
use std::ffi::{c_int, c_void};

/// Compresses the `nbytes` bytes at `src`, items of `typesize` bytes, into a chunk at `dest` with the
/// library's settings: as `blosc2_compress`, whose `clevel` and `doshuffle` these are, with sizes that must
/// fit into 31 bits.
///
/// Returns the size of the chunk in bytes; 0 when it does not fit into `destsize` bytes; a negative error
/// code.
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
    code(|| {
        if nbytes > MAX_BUFFERSIZE {
            return Err(err!(
                MaxBufsizeExceeded,
                "a source of {nbytes} bytes; {MAX_BUFFERSIZE} is the limit"
            ));
        }
        let Ok(typesize) = i32::try_from(typesize) else {
            return Err(err!(InvalidParam, "items of {typesize} bytes"));
        };
        // No chunk is longer than an i32 can say.
        let destsize = destsize.min(i32::MAX as usize);
        // SAFETY: by the rules of the module.
        let (src, dest) = unsafe { (source(src, nbytes)?, destination(dest, destsize)?) };
        global::compress(clevel, doshuffle, typesize, src, dest)
    })
}

/// Compresses the `srcsize` bytes at `src`, items of `typesize` bytes, into a chunk at `dest`, with the
/// library's settings and what the environment overrides.
///
/// `clevel` is 0 (store) to 9; `doshuffle` one of `BLOSC_NOSHUFFLE`, `BLOSC_SHUFFLE`, `BLOSC_BITSHUFFLE`. A
/// destination of `srcsize + BLOSC2_MAX_OVERHEAD` bytes is always large enough.
///
/// Returns the size of the chunk in bytes; 0 when it does not fit into `destsize` bytes. -8 for a bad level,
/// -12 for a bad item size, -35 for a source above `BLOSC2_MAX_BUFFERSIZE` or a destination below 32 bytes,
/// -7 for an unknown compressor.
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
    code(|| {
        // SAFETY: by the rules of the module.
        let (src, dest) = unsafe { (source(src, length(srcsize)?)?, destination(dest, room(destsize))?) };
        global::compress(clevel, doshuffle, typesize, src, dest)
    })
}

/// Decompresses the chunk at `src` into `dest`, which has room for `destsize` bytes. The chunk must be as
/// long as its header says; use `blosc2_decompress` for bytes that are not trusted.
///
/// Returns the bytes of content, or a negative error code.
///
/// # Safety
/// The rules of the module `capi`; `src` points at a whole chunk.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc1_decompress(src: *const c_void, dest: *mut c_void, destsize: usize) -> c_int {
    code(|| {
        let destsize = destsize.min(i32::MAX as usize);
        // SAFETY: by the rules of the module, and the function's own.
        let (chunk, dest) = unsafe { (whole_chunk(src)?, destination(dest, destsize)?) };
        global::decompress(chunk, dest)
    })
}

/// Decompresses the chunk at `src`, of at most `srcsize` bytes, into `dest`, with the library's number of
/// threads.
///
/// Returns the bytes of content. -6 when they do not fit into `destsize` bytes, another negative code for a
/// chunk that is damaged; then the content of `dest` is undefined.
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
    code(|| {
        // SAFETY: by the rules of the module.
        let (chunk, dest) = unsafe { (source(src, room(srcsize))?, destination(dest, room(destsize))?) };
        global::decompress(chunk, dest)
    })
}

/// Reads `nitems` items of the chunk at `src` from item `start` on into `dest`; as `blosc2_getitem` for a
/// chunk and a destination that are as long as they have to be.
///
/// Returns the bytes read, or a negative error code.
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
    code(|| {
        // SAFETY: by the function's own rules.
        let chunk = unsafe { whole_chunk(src) }?;
        let typesize = usize::from(ChunkHeader::parse_basic(chunk)?.typesize);
        let wanted = room(nitems).saturating_mul(typesize).min(i32::MAX as usize);
        // SAFETY: as above.
        let dest = unsafe { destination(dest, wanted) }?;
        items(chunk, start, nitems, dest)
    })
}

/// Reads `nitems` items of the chunk at `src`, of at most `srcsize` bytes, from item `start` on into `dest`,
/// decompressing only the blocks that hold them. An item is as wide as the chunk says: 1 byte for items above
/// 255 bytes.
///
/// Returns the bytes read. -12 for items that are not there, -6 when they do not fit into `destsize` bytes,
/// another negative code for a chunk that is damaged.
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
    code(|| {
        // SAFETY: by the rules of the module.
        let (chunk, dest) = unsafe { (source(src, room(srcsize))?, destination(dest, room(destsize))?) };
        items(chunk, start, nitems, dest)
    })
}

fn items(chunk: &[u8], start: c_int, nitems: c_int, dest: OutBuffer<'_>) -> Result<usize> {
    let wanted = ItemRange::Items { start, nitems };
    let mut header = ChunkHeader::default();
    let chunk = StoredChunk::parse(&mut header, chunk)?;
    Ok(getitem(&DecompressParams::default(), &chunk, wanted, dest)?.nbytes)
}

/// A chunk that is as long as its header says.
///
/// # Safety
/// `src` is NULL or points at a whole chunk.
unsafe fn whole_chunk<'a>(src: *const c_void) -> Result<&'a [u8]> {
    // SAFETY: a chunk has at least a short header.
    let header = ChunkHeader::parse_basic(unsafe { source(src, MIN_HEADER_LENGTH) }?)?;
    // SAFETY: by the caller's word.
    unsafe { source(src, room(header.cbytes)) }
}
