//! The chunks and items of super-chunks (`abi.md` 2.5).

use super::ffi::{result_code, result_code_of_short_call};
use super::pointers::{
    CArray, ChunkStays, ChunkToStore, Chunks, Coords, DestBuffer, Handle, Input, Out, Output, Size,
    SourceBuffer,
};
use super::schunk::{result_code_i64, result_code_i64_of_short_call};
use crate::abi::blosc2_schunk;
use crate::chunk::format::{LONGER_CONTENT, MAX_BUFFERSIZE};
use crate::error::{ErrorKind, Result, ensure, err, to_kind_unless_lock};
use crate::panics::in_library_call;
use crate::schunk::read::ReturnedChunk;
use crate::schunk::slice::slice_len;
use std::ffi::{c_int, c_void};

/// Appends the compressed chunk at `chunk` to `schunk`. If `copy` is true, the chunk is copied and still belongs
/// to the caller. If `copy` is false, `chunk` must be a block from `malloc`, and the super-chunk takes its
/// ownership, unless an error is returned.
///
/// Returns the new number of chunks. Errors: -11 for bytes that are no chunk; -20 for a chunk that the super-chunk
/// does not accept (for example, chunks with and without variable-length blocks cannot be mixed, and a chunk of an
/// array must not be larger than its chunk shape) or that cannot be stored; -12 for a lazy chunk, and when `schunk` belongs to a view; -13 while another handle of the frame writes;
/// -37 when the lock cannot be acquired; -32 when a pointer is NULL.
///
/// # Safety
/// The rules of the module `capi`; the chunk is as long as its header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_append_chunk(
    schunk: Handle<*mut blosc2_schunk>,
    chunk: ChunkToStore<*mut u8>,
    copy: ChunkStays<bool>,
) -> i64 {
    result_code_i64(|| {
        let schunk = schunk.get()?;
        chunk.pass(copy, |chunk| schunk.append_chunk(chunk))
    })
}

/// Inserts the compressed chunk at `chunk` into `schunk`, so that it becomes chunk number `nchunk` (0 to the
/// number of chunks). `copy` has the same meaning as in `blosc2_schunk_append_chunk`: if false, the super-chunk
/// takes the `malloc` block, unless an error is returned.
///
/// Returns the new number of chunks. Errors: -12 when `nchunk` is out of range, otherwise as
/// `blosc2_schunk_append_chunk`, with -19 instead of -20.
///
/// # Safety
/// The rules of the module `capi`; the chunk is as long as its header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_insert_chunk(
    schunk: Handle<*mut blosc2_schunk>,
    nchunk: i64,
    chunk: ChunkToStore<*mut u8>,
    copy: ChunkStays<bool>,
) -> i64 {
    result_code_i64_of_short_call(|| {
        let schunk = schunk.get()?;
        chunk.pass(copy, |chunk| schunk.insert_chunk(nchunk, chunk))
    })
}

/// Replaces chunk `nchunk` of `schunk` by the compressed chunk at `chunk`. `copy` has the same meaning as in
/// `blosc2_schunk_append_chunk`: if false, the super-chunk takes the `malloc` block, unless an error is returned.
///
/// Returns the number of chunks. Errors: -12 when chunk `nchunk` does not exist, -1 when it cannot be read,
/// otherwise as `blosc2_schunk_append_chunk`, with -21 instead of -20.
///
/// # Safety
/// The rules of the module `capi`; the chunk is as long as its header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_update_chunk(
    schunk: Handle<*mut blosc2_schunk>,
    nchunk: i64,
    chunk: ChunkToStore<*mut u8>,
    copy: ChunkStays<bool>,
) -> i64 {
    result_code_i64(|| {
        let schunk = schunk.get()?;
        chunk.pass(copy, |chunk| schunk.update_chunk(nchunk, chunk))
    })
}

/// Deletes chunk `nchunk` of `schunk`. In a contiguous frame its bytes stay in the frame, unused.
///
/// Returns the new number of chunks. Errors: -12 when chunk `nchunk` does not exist, -1 when it cannot be read,
/// -21 when the frame cannot be changed, -37 when the lock cannot be acquired, -32 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_schunk_delete_chunk(schunk: Handle<*mut blosc2_schunk>, nchunk: i64) -> i64 {
    result_code_i64_of_short_call(|| schunk.get()?.delete_chunk(nchunk))
}

/// Compresses the `nbytes` bytes at `src` with the parameters of `schunk` and appends the chunk to `schunk`. `src`
/// may be NULL when a prefilter supplies the data.
///
/// Returns the new number of chunks, or an error code of `blosc2_compress_ctx` or `blosc2_schunk_append_chunk`.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_schunk_append_buffer(
    schunk: Handle<*mut blosc2_schunk>,
    src: SourceBuffer<*const c_void>,
    nbytes: Size<i32, Input>,
) -> i64 {
    result_code_i64(|| {
        let schunk = schunk.get()?;
        let len = nbytes.len().ok_or_else(|| {
            let nbytes = nbytes.number();
            err!(MaxBufsizeExceeded, "`nbytes` is {nbytes}, expected 0 to {MAX_BUFFERSIZE}; {LONGER_CONTENT}")
        })?;
        let src = if src.is_null() && schunk.cctx()?.head().prefilter().is_some() {
            None
        } else {
            Some(src.bytes(len)?)
        };
        schunk.append_buffer(src, len.get())
    })
}

/// Decompresses chunk `nchunk` of `schunk` into `dest`, which has room for `nbytes` bytes.
///
/// Returns the number of bytes written to `dest`. Errors: -12 when chunk `nchunk` does not exist; when its content
/// does not fit into `nbytes` bytes, -6 for a frame and -12 for separate chunks in memory; another negative code
/// when the chunk cannot be read or is damaged.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_schunk_decompress_chunk(
    schunk: Handle<*mut blosc2_schunk>,
    nchunk: i64,
    dest: DestBuffer<*mut c_void>,
    nbytes: Size<i32, Output>,
) -> c_int {
    result_code(|| schunk.get()?.decompress_chunk(nchunk, dest.buffer(nbytes.len_or_zero())?))
}

/// Stores the address of the compressed chunk `nchunk` of `schunk` in `*chunk`. If `*needs_free` is set to true,
/// the chunk is a copy, which the caller frees with `free()`; if false, it belongs to the super-chunk and is valid
/// until that changes.
///
/// Returns the size of the chunk in bytes. Errors: -12 when chunk `nchunk` does not exist, -32 when a pointer is
/// NULL, another negative code when the chunk cannot be read; NULL and false are stored then.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_schunk_get_chunk(
    schunk: Handle<*mut blosc2_schunk>,
    nchunk: i64,
    chunk: Out<*mut *mut u8>,
    needs_free: Out<*mut bool>,
) -> c_int {
    result_code_of_short_call(|| store_chunk_address(schunk, nchunk, false, chunk, needs_free))
}

/// Stores the address of chunk `nchunk` of `schunk` in `*chunk`, as `blosc2_schunk_get_chunk`. If the chunk is on
/// disk, only a lazy chunk is read: its header, its block offsets, and a trailer that describes where the blocks
/// are. A lazy chunk can be decompressed, completely or in parts, with a context that refers to the super-chunk
/// (`schunk->dctx`), which then reads the blocks it needs. If `*needs_free` is set to true, the caller frees the
/// chunk with `free()`.
///
/// Returns the number of bytes at `*chunk`, or an error code as `blosc2_schunk_get_chunk`; -11 for a chunk on disk
/// that is empty or has a header of 16 bytes.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_schunk_get_lazychunk(
    schunk: Handle<*mut blosc2_schunk>,
    nchunk: i64,
    chunk: Out<*mut *mut u8>,
    needs_free: Out<*mut bool>,
) -> c_int {
    result_code_of_short_call(|| store_chunk_address(schunk, nchunk, true, chunk, needs_free))
}

/// Stores the address of a chunk, lazy if `lazily`, for the C caller.
#[inline(always)]
fn store_chunk_address(
    schunk: Handle<'_, *mut blosc2_schunk>,
    nchunk: i64,
    lazily: bool,
    chunk: Out<'_, *mut *mut u8>,
    needs_free: Out<'_, *mut bool>,
) -> Result<usize> {
    let (chunk, needs_free) = (chunk.cleared(), needs_free.cleared());
    let schunk = schunk.get()?;
    ensure!(!chunk.is_null() && !needs_free.is_null(), NullPointer, "`chunk` or `needs_free` is NULL");
    if let Some((start, len)) = schunk.chunk_without_frame(nchunk) {
        chunk.store(start.cast_mut());
        return Ok(len);
    }
    let (start, len, owned) = match in_library_call(move || schunk.get_chunk(nchunk, lazily))? {
        ReturnedChunk::Borrowed(start, len) => (start.cast_mut(), len, false),
        ReturnedChunk::Owned(block) => {
            let len = block.len();
            (block.into_raw(), len, true)
        }
    };
    chunk.store(start);
    needs_free.store(owned);
    Ok(len)
}

/// Decompresses block `nblock` of chunk `nchunk` of `schunk`; the chunk must have variable-length blocks. Stores a
/// buffer from `malloc` with the content in `*dest`, which the caller frees with `free()`, and its size in bytes
/// in `*destsize`.
///
/// Returns the size of the block in bytes. Errors: -12 when a pointer is NULL, when the chunk or the block does
/// not exist, and for a chunk without variable-length blocks; another negative code for a damaged chunk. NULL and 0
/// are stored after an error.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_schunk_get_vlblock(
    schunk: Handle<*mut blosc2_schunk>,
    nchunk: i64,
    nblock: i32,
    dest: Out<*mut *mut u8>,
    destsize: Out<*mut i32>,
) -> c_int {
    result_code(|| {
        let (dest, destsize) = (dest.cleared(), destsize.cleared());
        if schunk.is_null() || dest.is_null() || destsize.is_null() {
            return Err(err!(InvalidParam, "`schunk`, `dest` or `destsize` is NULL"));
        }
        let block = schunk.get()?.get_vlblock(nchunk, nblock)?;
        let len = block.len();
        dest.store(block.into_raw());
        destsize.store(len as i32);
        Ok(len)
    })
}

/// Decompresses the items `start` to `stop` (exclusive) of `schunk` into `buffer`, which must have room for these
/// items. Does nothing if `stop` is not greater than `start`.
///
/// Returns 0. Errors: -12 when the chunks have different sizes, -32 when a pointer is NULL, -37 when the lock
/// cannot be acquired, -1 for any other failure, also for a negative `start` and for items beyond the last one. The
/// chunks before the one that failed have been written to `buffer` then.
///
/// # Safety
/// The rules of the module `capi`; `buffer` has room for the items.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_get_slice_buffer(
    schunk: Handle<*mut blosc2_schunk>,
    start: i64,
    stop: i64,
    buffer: DestBuffer<*mut c_void>,
) -> c_int {
    result_code_of_short_call(|| {
        let schunk = schunk.get()?;
        let Some(span) = schunk.span_to_read(start, stop)? else { return Ok(0) };
        // SAFETY: the caller provides space for the items from `start` to `stop`, which are `span.nbytes()` bytes.
        let mut dest = unsafe { buffer.first_bytes(span.nbytes()) }?;
        if !schunk.try_read_uncoded_span(&span, &mut dest) {
            in_library_call(|| schunk.read_span(&span, dest))
                .map_err(to_kind_unless_lock(ErrorKind::Failure))?;
        }
        Ok(0)
    })
}

/// Overwrites the items `start` to `stop` (exclusive) of `schunk` with the `stop - start` items in `buffer`. The
/// chunks that hold them are compressed again. Items beyond the end of a short last chunk are ignored, unless the
/// slice covers that chunk up to the full chunk size. Does nothing if `stop` is not greater than `start`.
///
/// Returns 0. Errors: -12 for a negative `start` and when the chunks have different sizes, -21 when a chunk cannot
/// be stored, -37 when the lock cannot be acquired, -32 when a pointer is NULL, -1 for any other failure. In plain
/// files nothing has changed then, except for a slice beyond the last chunk; elsewhere, and for such a slice, the
/// chunks before the one that failed have been written.
///
/// # Safety
/// The rules of the module `capi`; `buffer` has the items.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_set_slice_buffer(
    schunk: Handle<*mut blosc2_schunk>,
    start: i64,
    stop: i64,
    buffer: SourceBuffer<*mut c_void>,
) -> c_int {
    result_code(|| {
        let schunk = schunk.get()?;
        let len = slice_len(start, stop, schunk.typesize())?;
        // SAFETY: the caller provides the items from `start` to `stop`, which are `len` bytes.
        let src = unsafe { buffer.first_bytes(len) }?;
        schunk.set_slice(start, stop, src).map(|()| 0)
    })
}

/// Decompresses the `ncoords` items of `schunk` with the numbers in `coords`, and stores them one after another in
/// `buffer`, which must have room for `ncoords` items. The numbers may be in any order and may repeat. The
/// super-chunk must have been created with an explicit block size.
///
/// Returns 0. Errors: -12 when a pointer is NULL, for a negative `ncoords`, for an item that does not exist, and
/// for a super-chunk whose items cannot be located (no block size, chunks of different sizes, variable-length
/// blocks); -1 or another negative code when a chunk cannot be read.
///
/// # Safety
/// The rules of the module `capi`; `buffer` has room for the items.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_get_sparse_buffer(
    schunk: Handle<*mut blosc2_schunk>,
    ncoords: Size<i64, Coords>,
    coords: CArray<*const i64, Coords>,
    buffer: DestBuffer<*mut c_void>,
) -> c_int {
    result_code(|| {
        let Some(count) = ncoords.len().filter(|_| !schunk.is_null()) else {
            let ncoords = ncoords.number();
            return Err(err!(InvalidParam, "`schunk` is NULL, or `ncoords` is negative: {ncoords}"));
        };
        if count.get() == 0 {
            return Ok(0);
        }
        let schunk = schunk.get()?;
        if coords.is_null() || buffer.is_null() || schunk.typesize() <= 0 {
            return Err(err!(InvalidParam, "`coords` or `buffer` is NULL, or the typesize is below 1"));
        }
        let len = slice_len(0, ncoords.number(), schunk.typesize())?;
        // SAFETY: the caller provides space for `ncoords` items, which are `len` bytes.
        let dest = unsafe { buffer.first_bytes(len) }?;
        schunk.get_sparse(coords.items(count)?, dest).map(|()| 0)
    })
}

/// Changes the order of the chunks of `schunk`: chunk `offsets_order[i]` becomes chunk `i`. `offsets_order` has
/// one number for each chunk.
///
/// Returns 0. Errors: -3 when `offsets_order` is no permutation of the chunk numbers, -32 when a pointer is NULL,
/// another negative code when the frame cannot be changed.
///
/// # Safety
/// The rules of the module `capi`; there is one number for each chunk.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_reorder_offsets(
    schunk: Handle<*mut blosc2_schunk>,
    offsets_order: CArray<*mut i64, Chunks>,
) -> c_int {
    result_code(|| {
        let schunk = schunk.get()?;
        let count = usize::try_from(schunk.counters().nchunks).unwrap_or(0);
        if offsets_order.is_null() && count > 0 {
            return Err(err!(NullPointer, "`offsets_order` is NULL, expected {count} numbers"));
        }
        // SAFETY: the caller provides one number for each chunk.
        schunk.reorder(unsafe { offsets_order.first_items(count) }?).map(|()| 0)
    })
}

/// Fills `schunk`, which must have no chunks, with special chunks of `chunksize` bytes that represent `nitems`
/// items. `special_value` is `BLOSC2_SPECIAL_ZERO` (zeros), `BLOSC2_SPECIAL_NAN` (NaNs) or `BLOSC2_SPECIAL_UNINIT`
/// (unspecified content).
///
/// Returns the number of chunks; 0 for no items. Errors: -12 for invalid sizes, -28 when there are chunks already
/// or when all chunks of a contiguous frame were deleted, -28 (in a frame) or -29 for another `special_value` or a
/// `chunksize` that is no multiple of the item size, -29 for too many items, another negative code when the frame
/// cannot be changed.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_schunk_fill_special(
    schunk: Handle<*mut blosc2_schunk>,
    nitems: i64,
    special_value: c_int,
    chunksize: i32,
) -> i64 {
    result_code_i64(|| schunk.get()?.fill_special(nitems, special_value, chunksize))
}
