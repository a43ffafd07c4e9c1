//! Super-chunks as a whole: making, opening, copying and freeing them; frames for others (`abi.md` 2.5).

use super::ffi::{code, guard, schunk, store, string};
use crate::abi::{
    BLOSC2_IO_DEFAULTS, blosc2_cparams, blosc2_dparams, blosc2_io, blosc2_schunk, blosc2_storage,
};
use crate::b2nd::metalayer::ArrayMeta;
use crate::err;
use crate::error::Result;
use crate::malloc::{Growing, Malloced};
use crate::schunk::copy::{CopyTo, FrameBytes};
use crate::schunk::storage::{Storage, block_with};
use crate::schunk::{OwnedSuperChunk, SuperChunk};
use std::ffi::{CStr, c_char, c_int};
use std::ptr::{self, NonNull};
use std::slice;

/// The result of a function that returns a 64-bit number or code.
pub(super) fn long(body: impl FnOnce() -> Result<i64>) -> i64 {
    guard(|error| i64::from(error.code()), body)
}

/// The result of a function that returns a super-chunk.
fn object(body: impl FnOnce() -> Result<OwnedSuperChunk>) -> *mut blosc2_schunk {
    guard(|_| ptr::null_mut(), || body().map(OwnedSuperChunk::into_raw))
}

/// The string behind a pointer that may be NULL.
///
/// # Safety
/// `ptr` is NULL or points at a string.
unsafe fn optional_string<'a>(ptr: *const c_char) -> Option<&'a CStr> {
    // SAFETY: not NULL, and by the caller's word it ends with NUL.
    (!ptr.is_null()).then(|| unsafe { CStr::from_ptr(ptr) })
}

/// Makes a super-chunk without chunks as `storage` says: in memory; or with `urlpath` a file (`contiguous`)
/// or a directory, of which there must be none yet. The storage is copied, except for what `io->params` and
/// the `user_data` of filters point at. Free it with `blosc2_schunk_free`.
///
/// Returns the super-chunk; NULL when the path is taken, a file cannot be written, the back-end is unknown,
/// or no context can be made of the parameters.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_new(storage: *mut blosc2_storage) -> *mut blosc2_schunk {
    object(|| {
        // SAFETY: by the rules of the module.
        let given = unsafe { storage.as_ref() }.ok_or_else(|| err!(NullPointer, "no storage"))?;
        let defaults = Storage::default();
        // SAFETY: by the rules of the module; the pointers in there are NULL or valid.
        unsafe {
            SuperChunk::create(&Storage {
                contiguous: given.contiguous.get(),
                urlpath: optional_string(given.urlpath),
                cparams: given.cparams.as_ref().unwrap_or(defaults.cparams),
                dparams: given.dparams.as_ref().unwrap_or(defaults.dparams),
                io: given.io.as_ref().unwrap_or(defaults.io),
            })
        }
    })
}

/// Copies `schunk` with its metalayers to another `storage`. Free the copy with `blosc2_schunk_free`. With
/// other compression parameters than the original's (NULL means those) the chunks are compressed anew.
///
/// Returns the copy; NULL when the copy cannot be made, as `blosc2_schunk_new`, or a chunk cannot be read.
/// What was written until then stays.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_copy(
    schunk: *mut blosc2_schunk,
    storage: *mut blosc2_storage,
) -> *mut blosc2_schunk {
    object(|| {
        // SAFETY: by the rules of the module.
        let (schunk, given) = unsafe { (self::schunk(schunk)?, storage.as_ref()) };
        let given = given.ok_or_else(|| err!(NullPointer, "no storage"))?;
        // SAFETY: by the rules of the module; the pointers in there are NULL or valid.
        unsafe {
            schunk.copy(&CopyTo {
                contiguous: given.contiguous.get(),
                urlpath: optional_string(given.urlpath),
                cparams: given.cparams.as_ref(),
                dparams: given.dparams.as_ref(),
                io: given.io.as_ref(),
            })
        }
    })
}

/// Frees `schunk` with its chunks in memory, metalayers and contexts; files stay. The `destroy` of its I/O
/// back-end is called. Nothing happens for NULL.
///
/// Returns 0, or 1 when `destroy` reports an error.
///
/// # Safety
/// The rules of the module `capi`; the super-chunk is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_free(schunk: *mut blosc2_schunk) -> c_int {
    code(|| {
        let Some(schunk) = NonNull::new(schunk) else { return Ok(0) };
        // SAFETY: one of ours, and this is its end.
        let schunk = unsafe { OwnedSuperChunk::from_raw(schunk) };
        let released = schunk.release_backend();
        drop(schunk);
        Ok(match released {
            Ok(()) => 0,
            Err(error) => {
                crate::trace::error(&error);
                1
            }
        })
    })
}

/// Opens the frame in the file or directory `urlpath` with the default I/O back-end. As many threads are used
/// as `blosc2_get_nthreads` says.
///
/// Returns the super-chunk, for `blosc2_schunk_free`; NULL when there is no frame that can be read.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_open(urlpath: *const c_char) -> *mut blosc2_schunk {
    // SAFETY: by the rules of the module.
    object(|| unsafe { open(urlpath, 0, &BLOSC2_IO_DEFAULTS) })
}

/// As `blosc2_schunk_open`, for a frame that begins `offset` bytes into the file `urlpath`.
///
/// Returns the super-chunk, or NULL.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_open_offset(
    urlpath: *const c_char,
    offset: i64,
) -> *mut blosc2_schunk {
    // SAFETY: by the rules of the module.
    object(|| unsafe { open(urlpath, offset, &BLOSC2_IO_DEFAULTS) })
}

/// As `blosc2_schunk_open` of `urlpath`, with the I/O back-end `udio`, of which the struct is copied. Its
/// `destroy` is called when the super-chunk is freed, and also when NULL is returned because there is no
/// frame that can be read.
///
/// Returns the super-chunk, or NULL.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_open_udio(
    urlpath: *const c_char,
    udio: *const blosc2_io,
) -> *mut blosc2_schunk {
    // SAFETY: by the rules of the module.
    object(|| unsafe { open(urlpath, 0, given_io(udio)?) })
}

/// As `blosc2_schunk_open_udio` with `udio`, for a frame that begins `offset` bytes into the file `urlpath`.
///
/// Returns the super-chunk, or NULL.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_open_offset_udio(
    urlpath: *const c_char,
    offset: i64,
    udio: *const blosc2_io,
) -> *mut blosc2_schunk {
    // SAFETY: by the rules of the module.
    object(|| unsafe { open(urlpath, offset, given_io(udio)?) })
}

/// # Safety
/// The rules of the module `capi`.
unsafe fn given_io<'a>(udio: *const blosc2_io) -> Result<&'a blosc2_io> {
    // SAFETY: by the caller's word.
    unsafe { udio.as_ref() }.ok_or_else(|| err!(NullPointer, "no I/O back-end"))
}

/// # Safety
/// The rules of the module `capi`.
unsafe fn open(urlpath: *const c_char, offset: i64, io: &blosc2_io) -> Result<OwnedSuperChunk> {
    // SAFETY: by the caller's word.
    unsafe { SuperChunk::open(string(urlpath)?, offset, io) }
}

/// Opens the contiguous frame of `len` bytes at `cframe`. With `copy`, its chunks are copied, and the result is a
/// super-chunk in memory without a frame. Without, the frame is used where it is: it has to stay as long as the
/// super-chunk, which copies it before the first change; it remains the caller's to free, unless
/// `blosc2_schunk_avoid_cframe_free` hands it over.
///
/// Returns NULL when it is no frame that can be read.
///
/// # Safety
/// The rules of the module `capi`; `cframe` is a `malloc` block if it is handed over.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_from_buffer(
    cframe: *mut u8,
    len: i64,
    copy: bool,
) -> *mut blosc2_schunk {
    object(|| {
        let (Some(start), Ok(len)) = (NonNull::new(cframe), usize::try_from(len)) else {
            return Err(err!(InvalidParam, "a frame of {len} bytes"));
        };
        // SAFETY: by the rules of the module.
        let memory = unsafe { Growing::lent(start, len) };
        if copy { SuperChunk::from_copy(memory) } else { SuperChunk::from_frame(memory) }
    })
}

/// Tells whether the buffer of a frame in memory is left to the caller when `schunk` is freed
/// (`avoid_cframe_free`). Nothing happens without such a frame.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_avoid_cframe_free(
    schunk: *mut blosc2_schunk,
    avoid_cframe_free: bool,
) {
    guard(
        |_| (),
        || {
            // SAFETY: by the rules of the module; with `false`, the program hands the buffer over.
            unsafe { self::schunk(schunk)?.avoid_cframe_free(avoid_cframe_free) };
            Ok(())
        },
    );
}

/// Stores `schunk` as one frame in memory into `*cframe`. `*needs_free` is true for a copy, which the caller
/// frees; else it is the super-chunk's own, valid until that changes.
///
/// Returns the length of the frame in bytes; -23 when it cannot be made, with `*cframe` NULL.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_to_buffer(
    schunk: *mut blosc2_schunk,
    cframe: *mut *mut u8,
    needs_free: *mut bool,
) -> i64 {
    long(|| {
        // SAFETY: by the rules of the module.
        unsafe {
            store(cframe, ptr::null_mut());
            store(needs_free, false);
        }
        if cframe.is_null() || needs_free.is_null() {
            return Err(err!(NullPointer, "no place for the frame"));
        }
        // SAFETY: by the rules of the module.
        let (start, len, copied) = match unsafe { self::schunk(schunk) }?.to_buffer()? {
            FrameBytes::Own(start, len) => (start, len, false),
            FrameBytes::Copy(start, len) => (start, len, true),
        };
        // SAFETY: by the rules of the module.
        unsafe {
            store(cframe, start);
            store(needs_free, copied);
        }
        Ok(len as i64)
    })
}

/// Writes `schunk` as one frame to the file `urlpath`. A file that is there is replaced if the super-chunk is
/// a frame in memory; for any other it is an error.
///
/// Returns the length of the frame in bytes; -12 for NULL, -15 or -14 when the file cannot be opened or
/// written, -23 when the frame cannot be made.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_to_file(schunk: *mut blosc2_schunk, urlpath: *const c_char) -> i64 {
    // SAFETY: by the rules of the module.
    long(|| unsafe { self::schunk(schunk)?.to_file(string(urlpath)?).map(|len| len as i64) })
}

/// Writes `schunk` as one frame behind what the file `urlpath` has; the file is made if there is none.
///
/// Returns where the frame begins in the file, 0 in a new one: for `blosc2_schunk_open_offset`. -12 for NULL,
/// -15, -13 or -14 when the file cannot be opened, measured or written, -23 when the frame cannot be made.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_append_file(
    schunk: *mut blosc2_schunk,
    urlpath: *const c_char,
) -> i64 {
    // SAFETY: by the rules of the module.
    long(|| unsafe { self::schunk(schunk)?.append_file(string(urlpath)?).map(|at| at as i64) })
}

/// Stores the compression parameters of `schunk` into `*cparams`, a block for the caller to free. Filters,
/// tuner and what else takes pointers are not in there.
///
/// Returns 0; -32 for NULL, -4 without memory.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_get_cparams(
    schunk: *mut blosc2_schunk,
    cparams: *mut *mut blosc2_cparams,
) -> c_int {
    // SAFETY: by the rules of the module.
    code(|| unsafe { give(cparams, self::schunk(schunk)?.cparams()) })
}

/// Stores the decompression parameters of `schunk` into `*dparams`, a block for the caller to free.
///
/// Returns 0; -32 for NULL, -4 without memory.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_get_dparams(
    schunk: *mut blosc2_schunk,
    dparams: *mut *mut blosc2_dparams,
) -> c_int {
    // SAFETY: by the rules of the module.
    code(|| unsafe { give(dparams, self::schunk(schunk)?.dparams()) })
}

/// Stores a block with `params` in it.
///
/// # Safety
/// `place` is NULL or writable.
unsafe fn give<T: Copy>(place: *mut *mut T, params: T) -> Result<usize> {
    if place.is_null() {
        return Err(err!(NullPointer, "no place for the parameters"));
    }
    // SAFETY: not NULL, and writable by the caller's word.
    unsafe { place.write(block_with(params)?) };
    Ok(0)
}

/// Returns the length of the frame of `schunk` in bytes; of a directory, that of its index file; without a
/// frame, an estimate.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_frame_len(schunk: *mut blosc2_schunk) -> i64 {
    // SAFETY: by the rules of the module.
    long(|| Ok(unsafe { self::schunk(schunk) }?.frame_len()))
}

/// Takes the lock between processes of `schunk`, a frame on disk, for several calls; it nests. Nothing
/// happens where locking is not asked for.
///
/// Returns 0; -37 when the lock cannot be had, -32 for NULL.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_lock(schunk: *mut blosc2_schunk) -> c_int {
    // SAFETY: by the rules of the module.
    code(|| unsafe { self::schunk(schunk) }?.lock().map(|()| 0))
}

/// Gives back what `blosc2_schunk_lock` took of `schunk`, one level of it.
///
/// Returns 0, also when nothing is taken; -37 when that fails, -32 for NULL.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_unlock(schunk: *mut blosc2_schunk) -> c_int {
    // SAFETY: by the rules of the module.
    code(|| unsafe { self::schunk(schunk) }?.unlock().map(|()| 0))
}

/// Reads counters and metalayers of `schunk` anew if another handle or process has changed the frame on disk.
///
/// Returns 1 if it has, 0 if not or if it cannot be read just now; -32 for NULL, -37 when the lock cannot be
/// had, -13 for a length that no frame has.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_refresh(schunk: *mut blosc2_schunk) -> c_int {
    // SAFETY: by the rules of the module.
    code(|| unsafe { self::schunk(schunk) }?.refresh().map(usize::from))
}

/// Tells where the chunks of the frame of `schunk` are: bytes into its data section, or numbers of chunk
/// files; a special chunk has the top bit set. As many as there are chunks, for the caller to free.
///
/// Returns the array; NULL without a frame, without chunks, or without memory.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_frame_get_offsets(schunk: *mut blosc2_schunk) -> *mut i64 {
    guard(
        |_| ptr::null_mut(),
        || {
            // SAFETY: by the rules of the module.
            let offsets = unsafe { self::schunk(schunk) }?.frame_offsets()?;
            Ok(offsets.map_or(ptr::null_mut(), Malloced::into_raw).cast())
        },
    )
}

/// Stores the numbers of the chunks of `schunk` that a slice touches into `*chunks_idx`, an array for the
/// caller to free. In an array of several dimensions `start` and `stop` (left out) have a number for each;
/// elsewhere they are the items `*start` to `*stop`, and whether there are such chunks is not looked at.
///
/// Returns how many; 0 and NULL for a super-chunk without chunks, an array without items, or a slice outside.
/// -32 for NULL, -12 when chunks differ in size or the array's geometry makes no sense, -1 for a metalayer
/// that does not.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_get_slice_nchunks(
    schunk: *mut blosc2_schunk,
    start: *mut i64,
    stop: *mut i64,
    chunks_idx: *mut *mut i64,
) -> i64 {
    long(|| {
        // SAFETY: by the rules of the module.
        let schunk = unsafe { self::schunk(schunk) }?;
        let wrong = || err!(NullPointer, "no items, or no place for chunk numbers");
        if chunks_idx.is_null() {
            return Err(wrong());
        }
        let (count, found) = match schunk.array_meta() {
            Some(content) => {
                let geometry = ArrayMeta::of_stored(&content)?.geometry(schunk.typesize())?;
                if start.is_null() || stop.is_null() {
                    return Err(wrong());
                }
                let dims = geometry.ndim();
                // SAFETY: by the rules there is a number for each dimension.
                let (start, stop) =
                    unsafe { (slice::from_raw_parts(start, dims), slice::from_raw_parts(stop, dims)) };
                let tiles = geometry.chunks_of_box(start, stop);
                let count = tiles.len();
                if count > schunk.counters().nchunks.max(MANY_CHUNKS) {
                    return Err(err!(MemoryAlloc, "{count} numbers of chunks that are not there"));
                }
                match count {
                    0 => (0, ptr::null_mut()),
                    _ => (count, numbers(count, tiles.map(|part| part.number))?),
                }
            }
            None => {
                // SAFETY: by the rules of the module.
                let (start, stop) = unsafe { (start.as_ref(), stop.as_ref()) };
                let (Some(&start), Some(&stop)) = (start, stop) else { return Err(wrong()) };
                match schunk.slice_chunks(start, stop)? {
                    None => (0, ptr::null_mut()),
                    Some(chunks) => (chunks.end - chunks.start, numbers(chunks.end - chunks.start, chunks)?),
                }
            }
        };
        // SAFETY: by the rules of the module.
        unsafe { store(chunks_idx, found) };
        Ok(count)
    })
}

/// A metalayer may claim more chunks than there are; so many are believed.
const MANY_CHUNKS: i64 = 1 << 20;

/// `count` numbers in an array for the caller to free.
fn numbers(count: i64, all: impl Iterator<Item = i64>) -> Result<*mut i64> {
    let len = usize::try_from(count).unwrap_or(0).checked_mul(size_of::<i64>());
    let mut numbers = Malloced::zeroed(len.ok_or_else(|| err!(MemoryAlloc, "{count} numbers"))?)?;
    for (place, number) in numbers.chunks_exact_mut(size_of::<i64>()).zip(all) {
        place.copy_from_slice(&number.to_ne_bytes());
    }
    Ok(numbers.into_raw().cast())
}
