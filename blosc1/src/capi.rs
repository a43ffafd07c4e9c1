//! The 25 exported functions (2). A function checks its pointers, borrows them as safe types, calls one function of
//! another module and maps the result.
//!
//! The rules for pointers, which the `# Safety` sections refer to:
//! - A pointer to a buffer that comes with a length in bytes points at that much memory, readable for a source and
//!   writable for a destination, for the whole call, and no other buffer of the call overlaps a destination. NULL is an
//!   error, except with a length of 0.
//! - A chunk has as many readable bytes as its header says, and at least 16.
//! - A pointer to a number or a string is NULL or points at one; a string ends with NUL.

use crate::chunk::{self, Compression};
use crate::environment::{self, Overrides};
use crate::header::{BAD_ARGUMENT, CodeResult, FAILURE, HEADER_LEN, Header, MAX_BUFFERSIZE, VERSION_FORMAT};
use crate::settings;
use blosc2_core::blosc1::{Codec, catch_panics};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;

/// Runs `body`. A panic, which only a defect of the library can cause, becomes -1.
fn result_code(body: impl FnOnce() -> CodeResult<usize>) -> c_int {
    let result = catch_panics(body).unwrap_or(Err(FAILURE));
    result.map_or_else(|code| code, |len| c_int::try_from(len).unwrap_or(c_int::MAX))
}

/// Returns the `len` bytes at `ptr`, an input of the caller; `None` for NULL.
///
/// # Safety
/// The rules of the module.
unsafe fn source<'a>(ptr: *const c_void, len: usize) -> Option<&'a [u8]> {
    if len == 0 {
        return Some(&[]);
    }
    // SAFETY: not NULL, and by the rules `len` bytes long.
    (!ptr.is_null()).then(|| unsafe { std::slice::from_raw_parts(ptr.cast(), len) })
}

/// Returns the `len` bytes at `ptr`, an output of the caller, which may be uninitialised; `None` for NULL.
///
/// # Safety
/// The rules of the module.
unsafe fn destination<'a>(ptr: *mut c_void, len: usize) -> Option<&'a mut [MaybeUninit<u8>]> {
    if len == 0 {
        return Some(&mut []);
    }
    // SAFETY: not NULL, by the rules `len` bytes long, and no other buffer of the call overlaps it.
    (!ptr.is_null()).then(|| unsafe { std::slice::from_raw_parts_mut(ptr.cast(), len) })
}

/// Returns the string at `ptr`; `None` for NULL.
///
/// # Safety
/// The rules of the module.
unsafe fn c_str<'a>(ptr: *const c_char) -> Option<&'a CStr> {
    // SAFETY: not NULL, and by the rules it ends with NUL.
    (!ptr.is_null()).then(|| unsafe { CStr::from_ptr(ptr) })
}

/// Returns the header of the chunk at `ptr`; `None` for NULL.
///
/// # Safety
/// The rules of the module.
unsafe fn header_of(ptr: *const c_void) -> Option<Header> {
    // SAFETY: a chunk has at least 16 bytes.
    unsafe { ptr.cast::<[u8; HEADER_LEN]>().as_ref() }.map(Header::parse)
}

/// Writes `value` to `*place`, unless `place` is NULL.
///
/// # Safety
/// `place` is NULL or writable.
unsafe fn store<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: not NULL, and writable.
        unsafe { place.write(value) }
    }
}

/// Initialises the library. Programs need not call it.
#[unsafe(no_mangle)]
pub extern "C" fn blosc_init() {
    settings::init();
}

/// Ends the threads of the library. The settings stay, and the library can be used again.
#[unsafe(no_mangle)]
pub extern "C" fn blosc_destroy() {
    let _ = catch_panics(settings::destroy);
}

/// Compresses the `nbytes` bytes at `src`, items of `typesize` bytes, into a chunk at `dest`, which has room for
/// `destsize` bytes; `nbytes + BLOSC_MAX_OVERHEAD` bytes are always enough. `clevel` is the level, 0 (store) to 9;
/// `doshuffle` is `BLOSC_NOSHUFFLE`, `BLOSC_SHUFFLE` or `BLOSC_BITSHUFFLE`. Codec, block size, split mode and number of
/// threads are the settings of the process. Environment variables override arguments and settings.
///
/// Returns the size of the chunk in bytes; 0 when it does not fit, and for a source above `BLOSC_MAX_BUFFERSIZE`. Errors:
/// -10 for a level, a shuffle or an item size out of range and for NULL, -1 for any other failure.
///
/// # Safety
/// The rules of the module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_compress(
    clevel: c_int,
    doshuffle: c_int,
    typesize: usize,
    nbytes: usize,
    src: *const c_void,
    dest: *mut c_void,
    destsize: usize,
) -> c_int {
    result_code(|| {
        settings::init();
        let mut arguments = Overrides { clevel, doshuffle, typesize };
        arguments.apply()?;
        let compression = Compression {
            clevel: arguments.clevel,
            doshuffle: arguments.doshuffle,
            typesize: arguments.typesize,
            codec: settings::compressor(),
            blocksize: settings::blocksize(),
            splitmode: settings::splitmode(),
            nthreads: settings::nthreads(),
        };
        // SAFETY: by the rules of the module.
        unsafe { compress(&compression, nbytes, src, dest, destsize) }
    })
}

/// Compresses as [`blosc_compress`], with the codec `compressor`, the block size `blocksize` (in bytes, 0 for an
/// automatic one) and up to `numinternalthreads` threads; the split mode is that of the process. Reads no environment
/// variables but `BLOSC_WARN`.
///
/// Returns what [`blosc_compress`] returns; also -5 for an unknown codec, and -1 for a number of threads outside 1 to
/// `BLOSC_MAX_THREADS` if there is more than one block.
///
/// # Safety
/// The rules of the module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_compress_ctx(
    clevel: c_int,
    doshuffle: c_int,
    typesize: usize,
    nbytes: usize,
    src: *const c_void,
    dest: *mut c_void,
    destsize: usize,
    compressor: *const c_char,
    blocksize: usize,
    numinternalthreads: c_int,
) -> c_int {
    result_code(|| {
        // SAFETY: by the rules of the module.
        let name = unsafe { c_str(compressor) }.ok_or(BAD_ARGUMENT)?;
        let compression = Compression {
            clevel,
            doshuffle,
            typesize,
            codec: Codec::from_name(name),
            blocksize: blocksize as i32,
            splitmode: settings::splitmode(),
            nthreads: numinternalthreads,
        };
        // SAFETY: by the rules of the module.
        unsafe { compress(&compression, nbytes, src, dest, destsize) }
    })
}

/// # Safety
/// The rules of the module.
unsafe fn compress(
    compression: &Compression,
    nbytes: usize,
    src: *const c_void,
    dest: *mut c_void,
    destsize: usize,
) -> CodeResult<usize> {
    let Some(destsize) = Compression::usable_destsize(nbytes, destsize) else { return Ok(0) };
    // SAFETY: by the rules of the module.
    let (src, dest) = unsafe { (source(src, nbytes), destination(dest, destsize)) };
    compression.run(src.ok_or(BAD_ARGUMENT)?, dest.ok_or(BAD_ARGUMENT)?)
}

/// Decompresses the chunk at `src` into `dest`, which has room for `destsize` bytes, with the number of threads of the
/// process; the environment variable `BLOSC_NTHREADS` overrides it.
///
/// Returns the size of the content in bytes. Errors: -5 for an unknown codec, -9 for an unknown version of its format, -1
/// for any other failure; `dest` may be partly written then.
///
/// # Safety
/// The rules of the module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_decompress(src: *const c_void, dest: *mut c_void, destsize: usize) -> c_int {
    result_code(|| {
        settings::init();
        environment::apply_nthreads();
        // SAFETY: by the rules of the module.
        unsafe { decompress(src, dest, destsize, settings::nthreads()) }
    })
}

/// Decompresses as [`blosc_decompress`], with up to `numinternalthreads` threads. Reads no environment variables.
///
/// Returns what [`blosc_decompress`] returns.
///
/// # Safety
/// The rules of the module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_decompress_ctx(
    src: *const c_void,
    dest: *mut c_void,
    destsize: usize,
    numinternalthreads: c_int,
) -> c_int {
    // SAFETY: by the rules of the module.
    result_code(|| unsafe { decompress(src, dest, destsize, numinternalthreads) })
}

/// # Safety
/// The rules of the module.
unsafe fn decompress(
    src: *const c_void,
    dest: *mut c_void,
    destsize: usize,
    nthreads: c_int,
) -> CodeResult<usize> {
    // SAFETY: by the rules of the module.
    let header = unsafe { header_of(src) }.ok_or(FAILURE)?;
    if header.nbytes == 0 {
        return Ok(0);
    }
    let cbytes = header.check_for_decompression(destsize)?;
    // Nothing is written beyond the content.
    let nbytes = usize::try_from(header.nbytes).map_err(|_| FAILURE)?;
    // SAFETY: by the rules of the module.
    let (chunk, dest) = unsafe { (source(src, cbytes), destination(dest, nbytes)) };
    chunk::decompress(chunk.ok_or(FAILURE)?, &header, nthreads, dest.ok_or(FAILURE)?)
}

/// Decompresses `nitems` items of the chunk at `src`, from item `start` (counted from 0) on, into `dest`, which has room
/// for them. Only the blocks that hold these items are decompressed.
///
/// Returns the size of the items in bytes. Errors: -9 for a chunk of another format, -5 for an unknown codec, -2 for a
/// damaged stream, -1 for any other failure, also for items that are not inside the chunk.
///
/// # Safety
/// The rules of the module; `dest` has room for the items.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_getitem(
    src: *const c_void,
    start: c_int,
    nitems: c_int,
    dest: *mut c_void,
) -> c_int {
    result_code(|| {
        // SAFETY: by the rules of the module.
        let header = unsafe { header_of(src) }.ok_or(FAILURE)?;
        let cbytes = header.check_for_items()?;
        let len = chunk::items_len(&header, start, nitems)?;
        if len == 0 {
            return Ok(0);
        }
        // SAFETY: by the rules of the module, and the function's own.
        let (chunk, dest) = unsafe { (source(src, cbytes), destination(dest, len)) };
        chunk::read_items(chunk.ok_or(FAILURE)?, &header, start, nitems, dest.ok_or(FAILURE)?)
    })
}

/// Returns the number of threads of the process.
#[unsafe(no_mangle)]
pub extern "C" fn blosc_get_nthreads() -> c_int {
    settings::nthreads()
}

/// Sets the number of threads of the process. A lower number than before ends the threads. A number outside 1 to
/// `BLOSC_MAX_THREADS` is stored, and makes functions that need it fail.
///
/// Returns the previous number.
#[unsafe(no_mangle)]
pub extern "C" fn blosc_set_nthreads(nthreads: c_int) -> c_int {
    settings::init();
    catch_panics(|| settings::set_nthreads(nthreads)).unwrap_or(FAILURE)
}

/// Returns the name of the codec of the process: a static string.
#[unsafe(no_mangle)]
pub extern "C" fn blosc_get_compressor() -> *const c_char {
    settings::compressor().map_or(ptr::null(), |codec| codec.name().as_ptr())
}

/// Sets the codec of the process.
///
/// Returns its code, or -1 for an unknown name; nothing changes then.
///
/// # Safety
/// The rules of the module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_set_compressor(compname: *const c_char) -> c_int {
    settings::init();
    // SAFETY: by the rules of the module.
    let codec = unsafe { c_str(compname) }.and_then(Codec::from_name);
    codec.map_or(FAILURE, |codec| {
        settings::set_compressor(codec);
        codec.code()
    })
}

/// Stores the name of the codec with the code `compcode` in `*compname`: a static string, or NULL for an unknown code.
///
/// Returns `compcode`, or -1 for an unknown one.
///
/// # Safety
/// The rules of the module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_compcode_to_compname(compcode: c_int, compname: *mut *const c_char) -> c_int {
    let codec = Codec::from_code(compcode);
    // SAFETY: by the rules of the module.
    unsafe { store(compname, codec.map_or(ptr::null(), |codec| codec.name().as_ptr())) };
    codec.map_or(FAILURE, |codec| codec.code())
}

/// Returns the code of the codec `compname`, or -1 for an unknown name.
///
/// # Safety
/// The rules of the module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_compname_to_compcode(compname: *const c_char) -> c_int {
    // SAFETY: by the rules of the module.
    unsafe { c_str(compname) }.and_then(Codec::from_name).map_or(FAILURE, |codec| codec.code())
}

/// Returns the names of the codecs, separated by commas: a static string.
#[unsafe(no_mangle)]
pub extern "C" fn blosc_list_compressors() -> *const c_char {
    c"blosclz,lz4,lz4hc,snappy,zlib,zstd".as_ptr()
}

/// Returns the version of the reference whose functions the library has: a static string.
#[unsafe(no_mangle)]
pub extern "C" fn blosc_get_version_string() -> *const c_char {
    c"1.21.6".as_ptr()
}

/// Stores the name and the version of the library that implements the codec `compname`, unless the pointer is NULL: two
/// strings from `malloc`, which the caller frees, or NULL for an unknown codec.
///
/// Returns the code of that library, or -1 for an unknown codec and without memory.
///
/// # Safety
/// The rules of the module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_get_complib_info(
    compname: *const c_char,
    complib: *mut *mut c_char,
    version: *mut *mut c_char,
) -> c_int {
    // SAFETY: by the rules of the module.
    let codec = unsafe { c_str(compname) }.and_then(Codec::from_name);
    let texts = codec.map(|codec| [codec.library_name(), codec.library_version()]);
    let mut has_memory = true;
    for (n, place) in [complib, version].into_iter().enumerate() {
        if place.is_null() {
            continue;
        }
        let copy = texts.map_or(ptr::null_mut(), |texts| malloc_copy(texts[n]));
        has_memory &= texts.is_none() || !copy.is_null();
        // SAFETY: by the rules of the module.
        unsafe { store(place, copy) };
    }
    codec.filter(|_| has_memory).map_or(FAILURE, |codec| c_int::from(codec.format()))
}

/// Returns a copy of `text` from `malloc`, with a NUL at its end; NULL without memory.
fn malloc_copy(text: &str) -> *mut c_char {
    // SAFETY: `malloc` accepts any length; the buffer has room for the text and the NUL.
    unsafe {
        let copy: *mut u8 = libc::malloc(text.len() + 1).cast();
        if !copy.is_null() {
            copy.copy_from_nonoverlapping(text.as_ptr(), text.len());
            copy.add(text.len()).write(0);
        }
        copy.cast()
    }
}

/// Ends the threads of the library, if it is initialised.
///
/// Returns 0, or -1 if it is not initialised.
#[unsafe(no_mangle)]
pub extern "C" fn blosc_free_resources() -> c_int {
    result_code(|| if settings::free_resources() { Ok(0) } else { Err(FAILURE) })
}

/// Stores the size of the content, the size of the chunk and the size of its blocks, in bytes, as the header of the chunk
/// at `cbuffer` has them, unless the pointer is NULL; zeros for a chunk of another format.
///
/// # Safety
/// The rules of the module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_cbuffer_sizes(
    cbuffer: *const c_void,
    nbytes: *mut usize,
    cbytes: *mut usize,
    blocksize: *mut usize,
) {
    // SAFETY: by the rules of the module.
    let header = unsafe { header_of(cbuffer) }.filter(|header| header.version == VERSION_FORMAT);
    // Negative fields are extended to the width of `size_t`, as in the reference.
    let field =
        |field: fn(&Header) -> i32| header.as_ref().map_or(0, |header| field(header) as isize as usize);
    // SAFETY: by the rules of the module.
    unsafe {
        store(nbytes, field(|header| header.nbytes));
        store(cbytes, field(|header| header.cbytes));
        store(blocksize, field(|header| header.blocksize));
    }
}

/// Checks that `cbytes` is the size of the chunk at `cbuffer`, by its header. Stores the size of its content, in bytes, in
/// `*nbytes`; 0 for a chunk of another format.
///
/// Returns 0 if the size is right, otherwise -1.
///
/// # Safety
/// `cbuffer` is NULL or has `cbytes` bytes; `nbytes` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_cbuffer_validate(
    cbuffer: *const c_void,
    cbytes: usize,
    nbytes: *mut usize,
) -> c_int {
    if cbytes < HEADER_LEN {
        return FAILURE;
    }
    // SAFETY: NULL, or at least 16 bytes.
    let header = unsafe { header_of(cbuffer) }.filter(|header| header.version == VERSION_FORMAT);
    let stored = header.as_ref().map_or(0, |header| header.nbytes as isize as usize);
    // SAFETY: by the rules of the function.
    unsafe { store(nbytes, stored) };
    let is_valid =
        header.is_some_and(|header| header.cbytes as isize as usize == cbytes && stored <= MAX_BUFFERSIZE);
    if is_valid { 0 } else { FAILURE }
}

/// Stores the item size in bytes and the flags (bit 0: byte shuffle, bit 1: stored plain, bit 2: bit shuffle) of the chunk
/// at `cbuffer`, unless the pointer is NULL; zeros for a chunk of another format.
///
/// # Safety
/// The rules of the module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_cbuffer_metainfo(
    cbuffer: *const c_void,
    typesize: *mut usize,
    flags: *mut c_int,
) {
    // SAFETY: by the rules of the module.
    let header = unsafe { header_of(cbuffer) }.filter(|header| header.version == VERSION_FORMAT);
    // SAFETY: by the rules of the module.
    unsafe {
        store(typesize, header.map_or(0, |header| usize::from(header.typesize)));
        store(flags, header.map_or(0, |header| c_int::from(header.flags & 7)));
    }
}

/// Stores the version of the format and that of the codec's format of the chunk at `cbuffer`, unless the pointer is NULL.
///
/// # Safety
/// The rules of the module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_cbuffer_versions(
    cbuffer: *const c_void,
    version: *mut c_int,
    compversion: *mut c_int,
) {
    // SAFETY: by the rules of the module.
    let header = unsafe { header_of(cbuffer) };
    // SAFETY: by the rules of the module.
    unsafe {
        store(version, header.map_or(0, |header| c_int::from(header.version)));
        store(compversion, header.map_or(0, |header| c_int::from(header.versionlz)));
    }
}

/// Returns the name of the library of the codec of the chunk at `cbuffer`: a static string, or NULL for an unknown codec.
///
/// # Safety
/// The rules of the module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_cbuffer_complib(cbuffer: *const c_void) -> *const c_char {
    // SAFETY: by the rules of the module.
    let Some(header) = (unsafe { header_of(cbuffer) }) else { return ptr::null() };
    match header.flags >> 5 {
        0 => c"BloscLZ".as_ptr(),
        1 => c"LZ4".as_ptr(),
        2 => c"Snappy".as_ptr(),
        3 => c"Zlib".as_ptr(),
        4 => c"Zstd".as_ptr(),
        _ => ptr::null(),
    }
}

/// Returns the block size of the process in bytes; 0 for an automatic one.
#[unsafe(no_mangle)]
pub extern "C" fn blosc_get_blocksize() -> c_int {
    settings::blocksize()
}

/// Sets the block size of the process, in bytes; 0 for an automatic one. Blocks that are split are larger.
#[unsafe(no_mangle)]
pub extern "C" fn blosc_set_blocksize(blocksize: usize) {
    settings::set_blocksize(blocksize as i32);
}

/// Sets the split mode of the process (`BLOSC_ALWAYS_SPLIT` and so on), also for the `_ctx` functions. Any other number
/// counts as `BLOSC_ALWAYS_SPLIT`.
#[unsafe(no_mangle)]
pub extern "C" fn blosc_set_splitmode(splitmode: c_int) {
    settings::set_splitmode(splitmode);
}
