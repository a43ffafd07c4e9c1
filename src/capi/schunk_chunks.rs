//! The chunks and items of super-chunks (`abi.md` 2.5).

use super::ffi::{code, destination, room, schunk, source, store};
use super::schunk::long;
use crate::abi::blosc2_schunk;
use crate::chunk::format::{MAX_BUFFERSIZE, MIN_HEADER_LENGTH};
use crate::chunk::read_i32;
use crate::err;
use crate::error::Result;
use crate::malloc::Malloced;
use crate::schunk::change::Incoming;
use crate::schunk::read::ReturnedChunk;
use crate::schunk::slice::slice_len;
use std::ffi::{c_int, c_void};
use std::ptr::{self, NonNull};

/// Lends a chunk from C to `store`, or hands it over if `copy` is false; C keeps what was not taken.
///
/// # Safety
/// `chunk` is NULL or points at as many bytes as its header says; without `copy` at a `malloc` block.
unsafe fn with_chunk(
    chunk: *mut u8,
    copy: bool,
    keep: impl FnOnce(Incoming<'_>) -> Result<i64>,
) -> Result<i64> {
    let start = NonNull::new(chunk).ok_or_else(|| err!(NullPointer, "the chunk is NULL"))?;
    // SAFETY: a chunk has a header at least.
    let head = unsafe { std::slice::from_raw_parts(chunk, MIN_HEADER_LENGTH) };
    let cbytes = read_i32(head, 12).and_then(|cbytes| usize::try_from(cbytes).ok());
    let len = cbytes.unwrap_or(0).max(MIN_HEADER_LENGTH);
    if copy {
        // SAFETY: by the caller's word.
        return keep(Incoming::Copy(unsafe { std::slice::from_raw_parts(chunk, len) }));
    }
    // SAFETY: by the caller's word.
    let mut block = Some(unsafe { Malloced::from_raw(start, len) });
    let kept = keep(Incoming::Take(&mut block));
    // What was not taken is C's as before.
    let _ = block.map(Malloced::into_raw);
    kept
}

/// Appends `chunk` to `schunk`. With `copy` it stays the caller's; without, it has to be a `malloc` block,
/// which the super-chunk takes, unless an error is returned.
///
/// Returns the number of chunks then. -11 for bytes that are no chunk, -20 for a chunk that does not fit in
/// (blocks of equal and of variable length do not mix) or cannot be stored, -37 when the lock cannot be had,
/// -32 for NULL.
///
/// # Safety
/// The rules of the module `capi`; the chunk is as long as its header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_append_chunk(
    schunk: *mut blosc2_schunk,
    chunk: *mut u8,
    copy: bool,
) -> i64 {
    long(|| {
        // SAFETY: by the rules of the module.
        let schunk = unsafe { self::schunk(schunk) }?;
        // SAFETY: as above.
        unsafe { with_chunk(chunk, copy, |chunk| schunk.append_chunk(chunk)) }
    })
}

/// Inserts `chunk` into `schunk` before chunk `nchunk`, or at the end; `copy` as in
/// `blosc2_schunk_append_chunk`.
///
/// Returns the number of chunks then, or a code as there, with -19 in the place of -20; -12 when there is no
/// such place.
///
/// # Safety
/// The rules of the module `capi`; the chunk is as long as its header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_insert_chunk(
    schunk: *mut blosc2_schunk,
    nchunk: i64,
    chunk: *mut u8,
    copy: bool,
) -> i64 {
    long(|| {
        // SAFETY: by the rules of the module.
        let schunk = unsafe { self::schunk(schunk) }?;
        // SAFETY: as above.
        unsafe { with_chunk(chunk, copy, |chunk| schunk.insert_chunk(nchunk, chunk)) }
    })
}

/// Puts `chunk` in the place of chunk `nchunk` of `schunk`; `copy` as in `blosc2_schunk_append_chunk`.
///
/// Returns the number of chunks, or a code as there, with -21 in the place of -20; -12 when there is no such
/// chunk, -1 when it cannot be read.
///
/// # Safety
/// The rules of the module `capi`; the chunk is as long as its header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_update_chunk(
    schunk: *mut blosc2_schunk,
    nchunk: i64,
    chunk: *mut u8,
    copy: bool,
) -> i64 {
    long(|| {
        // SAFETY: by the rules of the module.
        let schunk = unsafe { self::schunk(schunk) }?;
        // SAFETY: as above.
        unsafe { with_chunk(chunk, copy, |chunk| schunk.update_chunk(nchunk, chunk)) }
    })
}

/// Deletes chunk `nchunk` of `schunk`. In a contiguous frame its bytes stay behind as a hole.
///
/// Returns the number of chunks then. -12 when there is no such chunk, -1 when it cannot be read, -21 when
/// the frame cannot be changed, -37 when the lock cannot be had, -32 for NULL.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_delete_chunk(schunk: *mut blosc2_schunk, nchunk: i64) -> i64 {
    // SAFETY: by the rules of the module.
    long(|| unsafe { self::schunk(schunk) }?.delete_chunk(nchunk))
}

/// Compresses the `nbytes` bytes at `src` with the parameters of `schunk` and appends the chunk. `src` may be
/// NULL when a prefilter supplies the data.
///
/// Returns the number of chunks then; a code of `blosc2_compress_ctx` or `blosc2_schunk_append_chunk`.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_append_buffer(
    schunk: *mut blosc2_schunk,
    src: *const c_void,
    nbytes: i32,
) -> i64 {
    long(|| {
        // SAFETY: by the rules of the module.
        let schunk = unsafe { self::schunk(schunk) }?;
        let nbytes = usize::try_from(nbytes)
            .map_err(|_| err!(MaxBufsizeExceeded, "{nbytes} bytes; 0 to {MAX_BUFFERSIZE} can be appended"))?;
        let src = if src.is_null() && schunk.cctx()?.head().prefilter().is_some() {
            None
        } else {
            // SAFETY: by the rules of the module.
            Some(unsafe { source(src, nbytes) }?)
        };
        schunk.append_buffer(src, nbytes)
    })
}

/// Decompresses chunk `nchunk` of `schunk` into `dest`, which has room for `nbytes` bytes.
///
/// Returns the bytes of content. -12 when there is no such chunk; when they do not fit, -6 for a frame and
/// -12 for separate chunks in memory; another negative code for a chunk that cannot be read or is damaged.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_decompress_chunk(
    schunk: *mut blosc2_schunk,
    nchunk: i64,
    dest: *mut c_void,
    nbytes: i32,
) -> c_int {
    code(|| {
        // SAFETY: by the rules of the module.
        let (schunk, dest) = unsafe { (self::schunk(schunk)?, destination(dest, room(nbytes))?) };
        schunk.decompress_chunk(nchunk, dest)
    })
}

/// Stores chunk `nchunk` of `schunk` into `*chunk`. `*needs_free` is true for a copy, which the caller frees;
/// else it is the super-chunk's own, valid until that changes.
///
/// Returns the size of the chunk in bytes; -12 when there is no such chunk, another negative code when it
/// cannot be read.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_get_chunk(
    schunk: *mut blosc2_schunk,
    nchunk: i64,
    chunk: *mut *mut u8,
    needs_free: *mut bool,
) -> c_int {
    // SAFETY: by the rules of the module.
    code(|| unsafe { hand_out(schunk, nchunk, false, chunk, needs_free) })
}

/// As `blosc2_schunk_get_chunk`, with `nchunk` and `needs_free` as there, but of a chunk on disk only the
/// header, the block starts, and where the blocks are. Such a chunk can be decompressed, as a whole or in
/// parts, with a context that has the super-chunk (`schunk->dctx`): then the blocks that are needed are read.
///
/// Returns the bytes at `*chunk`; a code as there.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_get_lazychunk(
    schunk: *mut blosc2_schunk,
    nchunk: i64,
    chunk: *mut *mut u8,
    needs_free: *mut bool,
) -> c_int {
    // SAFETY: by the rules of the module.
    code(|| unsafe { hand_out(schunk, nchunk, true, chunk, needs_free) })
}

/// # Safety
/// The rules of the module `capi`.
unsafe fn hand_out(
    schunk: *mut blosc2_schunk,
    nchunk: i64,
    lazily: bool,
    chunk: *mut *mut u8,
    needs_free: *mut bool,
) -> Result<usize> {
    // SAFETY: by the caller's word.
    let schunk = unsafe { self::schunk(schunk) }?;
    if chunk.is_null() || needs_free.is_null() {
        return Err(err!(NullPointer, "no place for the chunk"));
    }
    let is_there = (0..schunk.counters().nchunks).contains(&nchunk);
    if is_there && schunk.frame().is_some() {
        // SAFETY: not NULL, and writable by the caller's word.
        unsafe {
            store(chunk, ptr::null_mut());
            store(needs_free, false);
        }
    }
    let (start, len, owned) = match schunk.get_chunk(nchunk, lazily)? {
        ReturnedChunk::Borrowed(start, len) => (start.cast_mut(), len, false),
        ReturnedChunk::Owned(block) => {
            let len = block.len();
            (block.into_raw(), len, true)
        }
    };
    // SAFETY: as above.
    unsafe {
        store(chunk, start);
        store(needs_free, owned);
    }
    Ok(len)
}

/// Decompresses block `nblock` of chunk `nchunk` of `schunk`, whose blocks have lengths of their own, into a
/// new buffer at `*dest`, for the caller to free. `*destsize` is its size in bytes.
///
/// Returns that size, too. -12 for NULL, a chunk or block that is not there or not of that kind, another
/// negative code for one that is damaged; then nothing is stored.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_get_vlblock(
    schunk: *mut blosc2_schunk,
    nchunk: i64,
    nblock: i32,
    dest: *mut *mut u8,
    destsize: *mut i32,
) -> c_int {
    code(|| {
        if schunk.is_null() || dest.is_null() || destsize.is_null() {
            return Err(err!(InvalidParam, "no super-chunk, or no place for the block"));
        }
        // SAFETY: by the rules of the module.
        let block = unsafe { self::schunk(schunk) }?.get_vlblock(nchunk, nblock)?;
        let len = block.len();
        // SAFETY: not NULL, and writable by the rules.
        unsafe {
            store(dest, block.into_raw());
            store(destsize, len as i32);
        }
        Ok(len)
    })
}

/// Reads items `start` to `stop` (the latter left out) of `schunk` into `buffer`, which has room for them. No
/// items, or `stop` before `start`, is no error.
///
/// Returns 0; -12 for a negative `start` or chunks of different sizes, -1 for any other failure. The chunks
/// before the one that failed have been read then.
///
/// # Safety
/// The rules of the module `capi`; `buffer` has room for the items.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_get_slice_buffer(
    schunk: *mut blosc2_schunk,
    start: i64,
    stop: i64,
    buffer: *mut c_void,
) -> c_int {
    code(|| {
        // SAFETY: by the rules of the module.
        let schunk = unsafe { self::schunk(schunk) }?;
        let len = slice_len(start, stop, schunk.typesize())?;
        schunk.check_slice(start, stop)?;
        // SAFETY: by the rules of the module.
        let dest = unsafe { destination(buffer, len) }?;
        schunk.get_slice(start, stop, dest).map_err(|error| err!(Failure, "{error}"))?;
        Ok(0)
    })
}

/// Writes items `start` to `stop` (the latter left out) of `schunk` from `buffer`. Items behind the end of a
/// short last chunk are left out, unless the whole chunk is written. The chunks are compressed anew.
///
/// Returns 0; -12 for a negative `start` or chunks of different sizes, -21 when a chunk cannot be stored, -1
/// for any other failure. The chunks before the one that failed have been written then.
///
/// # Safety
/// The rules of the module `capi`; `buffer` has the items.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_set_slice_buffer(
    schunk: *mut blosc2_schunk,
    start: i64,
    stop: i64,
    buffer: *mut c_void,
) -> c_int {
    code(|| {
        // SAFETY: by the rules of the module.
        let schunk = unsafe { self::schunk(schunk) }?;
        let len = slice_len(start, stop, schunk.typesize())?;
        // SAFETY: by the rules of the module.
        let src = unsafe { source(buffer, len) }?;
        schunk.set_slice(start, stop, src).map(|()| 0)
    })
}

/// Reads the `ncoords` items of `schunk` at `coords`, in any order, one after another into `buffer`. The
/// super-chunk must have been made with a block size.
///
/// Returns 0; -12 for an item that is not there, or a super-chunk whose items cannot be told apart; -1 or
/// another negative code when they cannot be read.
///
/// # Safety
/// The rules of the module `capi`; `buffer` has room for the items.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_get_sparse_buffer(
    schunk: *mut blosc2_schunk,
    ncoords: i64,
    coords: *const i64,
    buffer: *mut c_void,
) -> c_int {
    code(|| {
        if schunk.is_null() || ncoords < 0 {
            return Err(err!(InvalidParam, "{ncoords} items, or no super-chunk"));
        }
        if ncoords == 0 {
            return Ok(0);
        }
        // SAFETY: by the rules of the module.
        let schunk = unsafe { self::schunk(schunk) }?;
        if coords.is_null() || buffer.is_null() || schunk.typesize() <= 0 {
            return Err(err!(InvalidParam, "no coordinates, or no place for the items"));
        }
        let count = usize::try_from(ncoords).unwrap_or(0);
        let len = slice_len(0, ncoords, schunk.typesize())?;
        // SAFETY: by the rules of the module; coordinates are aligned as any `int64_t`.
        let (coords, dest) =
            unsafe { (std::slice::from_raw_parts(coords, count), destination(buffer, len)?) };
        schunk.get_sparse(coords, dest).map(|()| 0)
    })
}

/// Puts the chunks of `schunk` into another order: chunk `offsets_order[i]` becomes chunk `i`.
///
/// Returns 0; -3 when the order is no permutation of all chunks, another negative code when the frame cannot
/// be changed.
///
/// # Safety
/// The rules of the module `capi`; there is one number for each chunk.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_reorder_offsets(
    schunk: *mut blosc2_schunk,
    offsets_order: *mut i64,
) -> c_int {
    code(|| {
        // SAFETY: by the rules of the module.
        let schunk = unsafe { self::schunk(schunk) }?;
        let count = usize::try_from(schunk.counters().nchunks).unwrap_or(0);
        if offsets_order.is_null() && count > 0 {
            return Err(err!(NullPointer, "no order"));
        }
        let order = match count {
            0 => &[][..],
            // SAFETY: by the rules of the module.
            _ => unsafe { std::slice::from_raw_parts(offsets_order, count) },
        };
        schunk.reorder(order).map(|()| 0)
    })
}

/// Fills `schunk`, which has no chunks, with special ones of `chunksize` bytes that stand for `nitems` items:
/// zeros, NaNs or values that nobody has set (`special_value`: `BLOSC2_SPECIAL_ZERO`, `_NAN`, `_UNINIT`).
///
/// Returns the number of chunks. -12 for sizes that make no sense, -28 when there are chunks already, -28 in
/// a frame or -29 for another `special_value`, -29 for too many items, another negative code when the frame
/// cannot be changed.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_fill_special(
    schunk: *mut blosc2_schunk,
    nitems: i64,
    special_value: c_int,
    chunksize: i32,
) -> i64 {
    // SAFETY: by the rules of the module.
    long(|| unsafe { self::schunk(schunk) }?.fill_special(nitems, special_value, chunksize))
}
