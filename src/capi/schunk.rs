//! Super-chunks as a whole: creating, opening, copying and freeing them, and their frames in memory and in files
//! (`abi.md` 2.5).

use super::ffi::{self, catch_errors, result_code, returned_value, value_or};
use super::pointers::{CArray, CStruct, CText, Handle, Out, SliceBounds, Taken};
use crate::abi::{
    BLOSC2_IO_DEFAULTS, blosc2_cparams, blosc2_dparams, blosc2_io, blosc2_schunk, blosc2_storage,
};
use crate::b2nd::metalayer::ArrayMeta;
use crate::error::{Result, ensure, err};
use crate::malloc::{MallocBytes, MallocVec};
use crate::panics::catch_panics_of_short_call;
use crate::schunk::storage::malloc_value;
use crate::schunk::{OwnedSuperChunk, SuperChunk};
use std::ffi::{c_char, c_int};
use std::ptr::{self, NonNull};

/// Runs a function body that returns a 64-bit number or an error code.
pub(super) fn result_code_i64(body: impl FnOnce() -> Result<i64>) -> i64 {
    catch_errors(|error| i64::from(error.code()), body)
}

/// As [`result_code_i64`], for a call that is short unless `body` runs
/// [`in_library_call`](crate::panics::in_library_call).
#[inline(always)]
pub(super) fn result_code_i64_of_short_call(body: impl FnOnce() -> Result<i64>) -> i64 {
    returned_value(|error| i64::from(error.code()), catch_panics_of_short_call(body))
}

/// Runs a function body that makes a super-chunk. Returns a pointer to the super-chunk, or NULL for an error.
fn new_schunk_or_null(body: impl FnOnce() -> Result<OwnedSuperChunk>) -> *mut blosc2_schunk {
    value_or(ptr::null_mut(), || body().and_then(OwnedSuperChunk::into_raw))
}

/// Creates a super-chunk without chunks as described by `storage`. Without `urlpath` it is in memory; with
/// `urlpath` it is a file (if `contiguous` is true) or a directory, which must not exist yet. `storage` and the
/// structs it points at are copied, except for the memory that `io->params` and the `user_data` of prefilters and
/// postfilters refer to.
///
/// Returns the super-chunk, which the caller frees with `blosc2_schunk_free`. Returns NULL when the path exists, a
/// file cannot be written, the I/O back-end is unknown, or no context can be created with the parameters.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_schunk_new(storage: CStruct<*mut blosc2_storage>) -> *mut blosc2_schunk {
    new_schunk_or_null(|| {
        let storage = storage.storage()?.with_defaults();
        // SAFETY: the ABI requires that the memory at pointers in parameters outlives the super-chunk.
        unsafe { SuperChunk::create(&storage) }
    })
}

/// Copies `schunk` with its metalayers to a new super-chunk, which is stored as described by `storage`. If
/// `storage->cparams` is NULL, the copy has the compression parameters of `schunk`. If the parameters differ from
/// those of `schunk`, the chunks are compressed again.
///
/// Returns the copy, which the caller frees with `blosc2_schunk_free`. Returns NULL when the copy cannot be
/// created, as `blosc2_schunk_new`, or when a chunk cannot be read; files that were written until then are
/// removed.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_schunk_copy(
    schunk: Handle<*mut blosc2_schunk>,
    storage: CStruct<*mut blosc2_storage>,
) -> *mut blosc2_schunk {
    new_schunk_or_null(|| {
        let (schunk, destination) = (schunk.get()?, storage.storage()?);
        // SAFETY: the ABI requires that the memory at pointers in parameters outlives the super-chunk.
        unsafe { schunk.copy(&destination) }
    })
}

/// Frees `schunk` with its chunks in memory, metalayers and contexts; files are not removed. Calls the function
/// `destroy` of its I/O back-end. Does nothing for NULL.
///
/// Returns 0, or 1 when `destroy` reports an error.
///
/// # Safety
/// The rules of the module `capi`; the super-chunk is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_free(schunk: Taken<*mut blosc2_schunk>) -> c_int {
    result_code(|| {
        let Some(schunk) = schunk.take() else { return Ok(0) };
        let released = schunk.release_backend();
        drop(schunk);
        Ok(match released {
            Ok(()) => 0,
            Err(error) => {
                ffi::report(error);
                1
            }
        })
    })
}

/// Opens the frame in the file or directory `urlpath` with the default I/O back-end. The contexts of the
/// super-chunk use the number of threads of `blosc2_get_nthreads`.
///
/// Returns the super-chunk, which the caller frees with `blosc2_schunk_free`; NULL when there is no readable
/// frame.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_schunk_open(urlpath: CText<*const c_char>) -> *mut blosc2_schunk {
    new_schunk_or_null(|| open(urlpath, 0, None))
}

/// Opens a frame that begins at byte `offset` of the file `urlpath`, as `blosc2_schunk_open`.
///
/// Returns the super-chunk, which the caller frees with `blosc2_schunk_free`; NULL when there is no readable
/// frame.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_schunk_open_offset(
    urlpath: CText<*const c_char>,
    offset: i64,
) -> *mut blosc2_schunk {
    new_schunk_or_null(|| open(urlpath, offset, None))
}

/// Opens the frame at `urlpath`, as `blosc2_schunk_open`, with the I/O back-end `udio`. If a directory exists at `urlpath`
/// in the file system, the frame is in the files of a directory. If nothing exists there, a registered back-end opens the
/// name all the same: as a directory if it ends with `/`, otherwise as a file. The struct is copied; the
/// memory at `udio->params` must outlive the super-chunk. The function `destroy` of the back-end is called when the
/// super-chunk is freed, and also when NULL is returned because there is no readable frame.
///
/// Returns the super-chunk, which the caller frees with `blosc2_schunk_free`; NULL when there is no readable
/// frame.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_schunk_open_udio(
    urlpath: CText<*const c_char>,
    udio: CStruct<*const blosc2_io>,
) -> *mut blosc2_schunk {
    new_schunk_or_null(|| open(urlpath, 0, Some(udio)))
}

/// Opens a frame that begins at byte `offset` of the file `urlpath` with the I/O back-end `udio`, as
/// `blosc2_schunk_open_udio`.
///
/// Returns the super-chunk, which the caller frees with `blosc2_schunk_free`; NULL when there is no readable
/// frame.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_schunk_open_offset_udio(
    urlpath: CText<*const c_char>,
    offset: i64,
    udio: CStruct<*const blosc2_io>,
) -> *mut blosc2_schunk {
    new_schunk_or_null(|| open(urlpath, offset, Some(udio)))
}

/// Opens a frame at byte `offset` of the file `urlpath`, with the I/O back-end `udio` or the default one.
fn open(
    urlpath: CText<'_, *const c_char>,
    offset: i64,
    udio: Option<CStruct<'_, *const blosc2_io>>,
) -> Result<OwnedSuperChunk> {
    let io = match udio {
        Some(udio) => udio.get().ok_or_else(|| err!(NullPointer, "`udio` is NULL"))?,
        None => &BLOSC2_IO_DEFAULTS,
    };
    // SAFETY: the caller keeps the memory at `udio->params` valid as long as the super-chunk; the defaults have none.
    unsafe { SuperChunk::open(urlpath.get()?, offset, io) }
}

/// Opens the contiguous frame of `len` bytes at `cframe`. If `copy` is true, the chunks are copied, and the result
/// is a super-chunk in memory without a frame. If `copy` is false, the frame is used in place: the buffer must
/// stay valid as long as the super-chunk. The super-chunk copies the frame before the first change. The caller
/// still frees the buffer, unless `blosc2_schunk_avoid_cframe_free` passes the ownership to the super-chunk.
///
/// Returns the super-chunk, which the caller frees with `blosc2_schunk_free`; NULL when the bytes are no readable
/// frame.
///
/// # Safety
/// The rules of the module `capi`; `cframe` is a block from `malloc` if its ownership is passed to the
/// super-chunk.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_from_buffer(
    cframe: *mut u8,
    len: i64,
    copy: bool,
) -> *mut blosc2_schunk {
    new_schunk_or_null(|| {
        let (Some(start), Ok(len)) = (NonNull::new(cframe), usize::try_from(len)) else {
            return Err(err!(InvalidParam, "`cframe` is NULL, or `len` is negative: {len}"));
        };
        // SAFETY: not NULL, and the caller provides a buffer of `len` bytes, which stays valid as long as a super-chunk that
        // uses it in place, and is a `malloc` block if its ownership is passed on.
        let memory = unsafe { MallocVec::from_program_block(start, len) };
        if copy { SuperChunk::from_copy(memory) } else { SuperChunk::from_frame(memory) }
    })
}

/// Sets the owner of the buffer of `schunk`, a frame in memory: if `avoid_cframe_free` is true, the buffer is not
/// freed together with the super-chunk, and the caller frees it; if false, the super-chunk frees it. Does nothing
/// if `schunk` has no such frame.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_avoid_cframe_free(
    schunk: Handle<*mut blosc2_schunk>,
    avoid_cframe_free: bool,
) {
    value_or((), || {
        // SAFETY: with `false`, the caller passes the ownership of the buffer.
        unsafe { schunk.get()?.avoid_cframe_free(avoid_cframe_free) };
        Ok(())
    });
}

/// Stores the address of `schunk` as one contiguous frame in `*cframe`. If `*needs_free` is set to true, the frame
/// is a copy, which the caller frees with `free()`; if false, the frame belongs to the super-chunk and is valid
/// until that changes.
///
/// Returns the length of the frame in bytes. Errors: -23 when the frame cannot be made, -32 when a pointer is
/// NULL; NULL and false are stored then.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_schunk_to_buffer(
    schunk: Handle<*mut blosc2_schunk>,
    cframe: Out<*mut *mut u8>,
    needs_free: Out<*mut bool>,
) -> i64 {
    result_code_i64(|| {
        let (cframe, needs_free) = (cframe.cleared(), needs_free.cleared());
        ensure!(!cframe.is_null() && !needs_free.is_null(), NullPointer, "`cframe` or `needs_free` is NULL");
        let bytes = schunk.get()?.to_buffer()?;
        cframe.store(bytes.start);
        needs_free.store(bytes.is_copy);
        Ok(bytes.len as i64)
    })
}

/// Writes `schunk` as one contiguous frame to the file `urlpath`. An existing file is replaced if the super-chunk
/// is a frame in memory; for any other super-chunk an existing file is an error.
///
/// Returns the length of the frame in bytes. Errors: -12 when `urlpath` is NULL, -32 when `schunk` is NULL, -15
/// when the file cannot be opened, -14 when it cannot be written, -23 when the frame cannot be made.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_schunk_to_file(
    schunk: Handle<*mut blosc2_schunk>,
    urlpath: CText<*const c_char>,
) -> i64 {
    result_code_i64(|| schunk.get()?.to_file(urlpath.get()?).map(|len| len as i64))
}

/// Appends `schunk` as one contiguous frame to the file `urlpath`. The file is created if it does not exist.
///
/// Returns the byte offset of the frame in the file (0 in a new file), which `blosc2_schunk_open_offset` takes.
/// Errors: -12 when `urlpath` is NULL, -32 when `schunk` is NULL, -15 when the file cannot be opened, -13 when its
/// length cannot be read, -14 when it cannot be written, -23 when the frame cannot be made.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_schunk_append_file(
    schunk: Handle<*mut blosc2_schunk>,
    urlpath: CText<*const c_char>,
) -> i64 {
    result_code_i64(|| schunk.get()?.append_file(urlpath.get()?).map(|at| at as i64))
}

/// Stores a copy of the compression parameters of `schunk` in `*cparams`, a block that the caller frees with
/// `free()`. The prefilter, the tuner and all parameters that are pointers, except `schunk`, are left out (0 or
/// NULL).
///
/// Returns 0. Errors: -32 when an argument is NULL, -4 when memory cannot be allocated; NULL is stored then.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_schunk_get_cparams(
    schunk: Handle<*mut blosc2_schunk>,
    cparams: Out<*mut *mut blosc2_cparams>,
) -> c_int {
    result_code(|| store_malloc_copy(cparams, || Ok(schunk.get()?.cparams())))
}

/// Stores a copy of the decompression parameters of `schunk`, the number of threads and the super-chunk, in
/// `*dparams`, a block that the caller frees with `free()`.
///
/// Returns 0. Errors: -32 when an argument is NULL, -4 when memory cannot be allocated; NULL is stored then.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_schunk_get_dparams(
    schunk: Handle<*mut blosc2_schunk>,
    dparams: Out<*mut *mut blosc2_dparams>,
) -> c_int {
    result_code(|| store_malloc_copy(dparams, || Ok(schunk.get()?.dparams())))
}

/// Stores a pointer to a `malloc` block with the result of `params` in `*place`.
fn store_malloc_copy<T: Copy>(
    place: Out<'_, *mut *mut T>,
    params: impl FnOnce() -> Result<T>,
) -> Result<usize> {
    let place = place.cleared();
    let params = params()?;
    ensure!(!place.is_null(), NullPointer, "the pointer for the parameters is NULL");
    place.store(malloc_value(params)?);
    Ok(0)
}

/// Returns the length of the frame of `schunk` in bytes; for a frame in a directory, the length of its index file;
/// without a frame, an estimate of the length.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_schunk_frame_len(schunk: Handle<*mut blosc2_schunk>) -> i64 {
    result_code_i64(|| Ok(schunk.get()?.frame_len()))
}

/// Acquires the exclusive inter-process lock of `schunk`, a frame on disk, so that several calls form one critical
/// section. The lock is reentrant: each call needs one `blosc2_schunk_unlock`. Without locking, no lock is acquired.
/// At the durability levels above `off` (`blosc2x_schunk_set_durability`), all changes until the last
/// `blosc2_schunk_unlock` are committed together, also without locking: before, neither other processes nor a reader
/// after a crash find any of them. `blosc2_schunk_free` commits them, too.
///
/// Returns 0. Errors: -37 when the lock cannot be acquired, -32 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_schunk_lock(schunk: Handle<*mut blosc2_schunk>) -> c_int {
    result_code(|| schunk.get()?.hold_frame_lock().map(|()| 0))
}

/// Releases one level of the inter-process lock that `blosc2_schunk_lock` acquired for `schunk`.
///
/// Returns 0, also when the lock is not held. Errors: -37 when the lock cannot be released, -32 for NULL; when the
/// changes since `blosc2_schunk_lock` cannot be committed, the code of the failed write: they are discarded then, and
/// the lock is released.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_schunk_unlock(schunk: Handle<*mut blosc2_schunk>) -> c_int {
    result_code(|| schunk.get()?.release_frame_lock().map(|()| 0))
}

/// Reads the counters and metalayers of `schunk` again if another handle or process has changed the frame on disk.
///
/// Returns 1 if the frame was changed; 0 if it was not changed, or cannot be read at present. Errors: -32 for
/// NULL, -37 when the lock cannot be acquired, -13 for a file length that no frame has.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_schunk_refresh(schunk: Handle<*mut blosc2_schunk>) -> c_int {
    result_code(|| schunk.get()?.refresh().map(usize::from))
}

/// Returns the positions of the chunks of the frame of `schunk`, one number for each chunk, in an array that the
/// caller frees with `free()`. In a contiguous frame the numbers are byte offsets into the data section; in a
/// directory they are the numbers of the chunk files. The numbers of special chunks have the most significant bit
/// set.
///
/// Returns NULL without a frame, without chunks, or when memory cannot be allocated.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_frame_get_offsets(schunk: Handle<*mut blosc2_schunk>) -> *mut i64 {
    value_or(ptr::null_mut(), || {
        let offsets = schunk.get()?.frame_offsets()?;
        Ok(offsets.map_or(ptr::null_mut(), MallocBytes::into_raw).cast())
    })
}

/// Finds the chunks of `schunk` that hold a slice, and stores their numbers in `*chunks_idx`, an array that the
/// caller frees with `free()`. If the super-chunk holds a `b2nd` array, `start` and `stop` are arrays with one
/// number for each dimension, and the slice is the box from `start` to `stop` (exclusive). Otherwise the slice is
/// the items `*start` to `*stop` (exclusive); whether the chunks exist is not checked then.
///
/// Returns the number of chunks. Returns 0 and stores NULL for a super-chunk without chunks, for an array without
/// items, and for a slice outside the array. Errors: -32 when a pointer is NULL, -12 when the chunks have
/// different sizes or the geometry of the array is invalid, -1 for an invalid metalayer, -4 when memory cannot be
/// allocated; NULL is stored then, too.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_get_slice_nchunks(
    schunk: Handle<*mut blosc2_schunk>,
    start: CArray<*mut i64, SliceBounds>,
    stop: CArray<*mut i64, SliceBounds>,
    chunks_idx: Out<*mut *mut i64>,
) -> i64 {
    result_code_i64(|| {
        let chunks_idx = chunks_idx.cleared();
        let schunk = schunk.get()?;
        let wrong = || err!(NullPointer, "`start`, `stop` or `chunks_idx` is NULL");
        if chunks_idx.is_null() {
            return Err(wrong());
        }
        let array_meta = schunk.array_meta()?;
        // The first `count` numbers of `start` and of `stop`.
        let bounds = |count| {
            if start.is_null() || stop.is_null() {
                return Err(wrong());
            }
            // SAFETY: not NULL, and the caller provides one number in each, or one for each dimension of an array.
            Ok(unsafe { (start.first_items(count)?, stop.first_items(count)?) })
        };
        let numbers = |count: i64, all: &mut dyn Iterator<Item = i64>| {
            MallocBytes::of_numbers(usize::try_from(count).unwrap_or(0), all)
        };
        let (count, found) = match array_meta {
            Some(content) => {
                let geometry = ArrayMeta::parse_nonempty(&content)?.geometry(schunk.typesize())?;
                let (start, stop) = bounds(geometry.ndim())?;
                let tiles = geometry.chunks_of_box(start, stop);
                let count = tiles.len();
                ensure!(
                    count <= schunk.counters().nchunks.max(MAX_UNCHECKED_NCHUNKS),
                    MemoryAlloc,
                    "the slice has {count} chunks, more than the super-chunk and than {MAX_UNCHECKED_NCHUNKS}",
                );
                let numbers = (count > 0).then(|| numbers(count, &mut tiles.map(|part| part.number)));
                (count, numbers.transpose()?)
            }
            None => {
                let (start, stop) = bounds(1)?;
                let chunks = schunk.slice_chunks(start[0], stop[0])?;
                let count = chunks.as_ref().map_or(0, |chunks| chunks.end - chunks.start);
                (count, chunks.map(|mut chunks| numbers(count, &mut chunks)).transpose()?)
            }
        };
        chunks_idx.store(found.map_or(ptr::null_mut(), MallocBytes::into_raw).cast());
        Ok(count)
    })
}

/// Limit for the chunks of one slice of an array, if the super-chunk does not have more: a metalayer can describe
/// more chunks than there are.
const MAX_UNCHECKED_NCHUNKS: i64 = 1 << 20;
