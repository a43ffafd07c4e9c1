//! The I/O back-ends: registering those of a program, and the functions of the library's two (`abi.md` 2.8, 2.10).
//!
//! A stream of the plain-file back-end is a `blosc2_stdio_file`; a stream of the memory-mapping back-end is the
//! `blosc2_stdio_mmap` that was passed as parameters. The rules for both, in addition to those of the module
//! `capi`: a stream is NULL or came from the back-end's `open` and was neither closed nor destroyed; several
//! threads may read from a stream at once, but any other use of it is by one thread.
//!
//! The functions of the back-ends take raw pointers: they have the types of the fields of `blosc2_io_cb`.

use super::ffi::{result_code, value_or};
use super::name;
use super::pointers::{CStruct, c_str};
use crate::abi::{
    BLOSC2_IO_FILESYSTEM, BLOSC2_IO_FILESYSTEM_MMAP, CBool, blosc2_io_cb, blosc2_stdio_file,
    blosc2_stdio_mmap,
};
use crate::error::{Result, ensure, err};
use crate::io::{backend_registry, mmap, stdio};
use std::cell::UnsafeCell;
use std::ffi::{c_char, c_int, c_void};
use std::ptr::null_mut;

/// The entry of a built-in back-end; C code can get its address.
struct BuiltInBackend(UnsafeCell<blosc2_io_cb>);

// SAFETY: the library only returns the address, and neither reads nor writes the struct.
unsafe impl Sync for BuiltInBackend {}

static FILESYSTEM: BuiltInBackend = BuiltInBackend(UnsafeCell::new(blosc2_io_cb {
    id: BLOSC2_IO_FILESYSTEM as u8,
    name: c"filesystem".as_ptr().cast_mut(),
    is_allocation_necessary: CBool::TRUE,
    open: Some(blosc2_stdio_open),
    close: Some(blosc2_stdio_close),
    size: Some(blosc2_stdio_size),
    write: Some(blosc2_stdio_write),
    read: Some(blosc2_stdio_read),
    truncate: Some(blosc2_stdio_truncate),
    destroy: Some(blosc2_stdio_destroy),
}));

static FILESYSTEM_MMAP: BuiltInBackend = BuiltInBackend(UnsafeCell::new(blosc2_io_cb {
    id: BLOSC2_IO_FILESYSTEM_MMAP as u8,
    name: c"filesystem_mmap".as_ptr().cast_mut(),
    is_allocation_necessary: CBool::FALSE,
    open: Some(blosc2_stdio_mmap_open),
    close: Some(blosc2_stdio_mmap_close),
    size: Some(blosc2_stdio_mmap_size),
    write: Some(blosc2_stdio_mmap_write),
    read: Some(blosc2_stdio_mmap_read),
    truncate: Some(blosc2_stdio_mmap_truncate),
    destroy: Some(blosc2_stdio_mmap_destroy),
}));

/// Registers `io`, an I/O back-end of the caller. The struct and the name in it are copied; the functions must
/// stay loaded for the life of the process. The name may be NULL or uninitialised: if no string can be read at
/// that address, the back-end has no name.
///
/// Returns 0, also when the id is already registered under the same name (the functions that were registered first
/// stay in use). Errors: -30 for an id below 160, for an id that is registered under another name, and when there
/// are 255 back-ends; -12 for NULL.
///
/// # Safety
/// The rules of the module `capi`; the functions obey the contracts of their typedefs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_register_io_cb(io: CStruct<*const blosc2_io_cb>) -> c_int {
    result_code(|| {
        let io = io.get().ok_or_else(|| err!(InvalidParam, "`io` is NULL"))?;
        let name = name::copy_if_readable(io.name);
        // SAFETY: the functions obey the contracts of their typedefs, and stay loaded for the life of the process.
        unsafe { backend_registry::register(io, name.as_deref()) }.map(|()| 0)
    })
}

/// Returns the I/O back-end with the id `id`: `BLOSC2_IO_FILESYSTEM`, `BLOSC2_IO_FILESYSTEM_MMAP` or a registered
/// one. The pointer refers to the library's own entry, which stays valid for the life of the process and must not
/// be freed. Returns NULL for an unknown id.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_get_io_cb(id: u8) -> *mut blosc2_io_cb {
    value_or(null_mut(), || {
        Ok(match i32::from(id) {
            BLOSC2_IO_FILESYSTEM => FILESYSTEM.0.get(),
            BLOSC2_IO_FILESYSTEM_MMAP => FILESYSTEM_MMAP.0.get(),
            _ => backend_registry::find_callbacks(id)
                .ok_or_else(|| err!(PluginIo, "I/O back-end {id} is not registered"))?,
        })
    })
}

/// Returns the number of bytes of `nitems` items, and their position. All invalid arguments give the same error:
/// no caller distinguishes them.
fn check_io_range(size: i64, nitems: i64, position: i64) -> Result<(usize, u64)> {
    let product = size.checked_mul(nitems).filter(|_| size >= 0 && nitems >= 0);
    match (product.map(usize::try_from), u64::try_from(position)) {
        (Some(Ok(len)), Ok(position)) => Ok((len, position)),
        _ => Err(err!(
            InvalidParam,
            "`size` {size}, `nitems` {nitems} or `position` {position} is negative, or too large"
        )),
    }
}

/// Returns the number of whole items in `done` bytes.
fn whole_items(done: usize, size: i64) -> i64 {
    (done as i64).checked_div(size).unwrap_or(0)
}

/// Returns the `FILE` of a plain-file stream.
///
/// # Safety
/// `stream` is NULL, or came from [`blosc2_stdio_open`] and is not closed.
unsafe fn file_of_stream(stream: *mut c_void) -> Result<*mut libc::FILE> {
    // SAFETY: by the contract of this function NULL or a stream of this back-end.
    match unsafe { stream.cast::<blosc2_stdio_file>().as_ref() } {
        Some(stream) if !stream.file.is_null() => Ok(stream.file),
        _ => Err(err!(InvalidParam, "the stream is NULL")),
    }
}

/// Returns the mapping of a stream.
fn mapping_of_stream(stream: *mut c_void) -> Result<*mut blosc2_stdio_mmap> {
    ensure!(!stream.is_null(), InvalidParam, "the stream is NULL");
    Ok(stream.cast())
}

/// Opens the plain file `urlpath` with `fopen` and `mode`. `params` is not used. The `open` function of the
/// back-end `BLOSC2_IO_FILESYSTEM`.
///
/// Returns the stream, a `blosc2_stdio_file`, which the caller closes with `blosc2_stdio_close`; NULL when a
/// string is NULL or the file cannot be opened. Several threads may read from a stream at once; any other use of
/// it is by one thread.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_open(
    urlpath: *const c_char,
    mode: *const c_char,
    params: *mut c_void,
) -> *mut c_void {
    let _ = params;
    // SAFETY: the caller passes NULL or strings that end with NUL.
    value_or(null_mut(), || Ok(unsafe { stdio::open(c_str(urlpath)?, c_str(mode)?) }?.cast()))
}

/// Closes the plain file `stream`, which `blosc2_stdio_open` returned, and frees the stream.
///
/// Returns 0; -1 for NULL and when `fclose` fails, after which the stream is freed, too.
///
/// # Safety
/// The rules of this module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_close(stream: *mut c_void) -> c_int {
    value_or(-1, || {
        // SAFETY: the caller passes NULL or a stream that `blosc2_stdio_open` returned and that is not closed, so that
        // its file is open.
        unsafe { file_of_stream(stream).and_then(|_| stdio::close(stream.cast())) }.map(|()| 0)
    })
}

/// Returns the size of the plain file `stream` in bytes, or -1 for NULL or when the size cannot be determined. The
/// file position of the `FILE` does not change.
///
/// # Safety
/// The rules of this module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_size(stream: *mut c_void) -> i64 {
    // SAFETY: the caller passes NULL or a stream that `blosc2_stdio_open` returned and that is not closed.
    value_or(-1, || unsafe { stdio::size(file_of_stream(stream)?) })
}

/// Writes the `nitems` items of `size` bytes at `ptr` to the plain file `stream`, at the byte `position` counted
/// from the start of the file. Bypasses the buffer of the `FILE`.
///
/// Returns the number of items that were written completely; 0 for invalid arguments.
///
/// # Safety
/// The rules of this module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_write(
    ptr: *const c_void,
    size: i64,
    nitems: i64,
    position: i64,
    stream: *mut c_void,
) -> i64 {
    value_or(0, || {
        // SAFETY: the caller passes NULL or a stream that `blosc2_stdio_open` returned and that is not closed.
        let (file, (len, _)) = (unsafe { file_of_stream(stream) }?, check_io_range(size, nitems, position)?);
        ensure!(!ptr.is_null(), InvalidParam, "`ptr` is NULL");
        // SAFETY: the file of a stream is open; the caller provides `nitems` items of `size` bytes, together `len`
        // bytes; `position` is not negative, as `check_io_range` checks.
        Ok(whole_items(unsafe { stdio::write(file, ptr, len, position) }, size))
    })
}

/// Reads `nitems` items of `size` bytes from the plain file `stream`, at the byte `position` counted from the
/// start of the file, into the buffer at `*ptr`, which the caller provides.
///
/// Returns the number of items that were read completely; 0 for invalid arguments.
///
/// # Safety
/// The rules of this module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_read(
    ptr: *mut *mut c_void,
    size: i64,
    nitems: i64,
    position: i64,
    stream: *mut c_void,
) -> i64 {
    value_or(0, || {
        // SAFETY: the caller passes NULL or a stream that `blosc2_stdio_open` returned and that is not closed,
        // and in `ptr` NULL or the address of an initialised pointer.
        let (file, dest) = unsafe { (file_of_stream(stream)?, ptr.as_ref().copied().unwrap_or(null_mut())) };
        let (len, _) = check_io_range(size, nitems, position)?;
        ensure!(!dest.is_null(), InvalidParam, "`ptr` or `*ptr` is NULL");
        // SAFETY: the file of a stream is open; the caller provides space for `nitems` items of `size` bytes, together
        // `len` bytes; `position` is not negative, as `check_io_range` checks.
        Ok(whole_items(unsafe { stdio::read(file, dest, len, position) }, size))
    })
}

/// Sets the length of the plain file `stream` to `size` bytes: cuts it, or extends it with zeros.
///
/// Returns 0; -1 for NULL, for a negative `size`, and when `ftruncate` fails.
///
/// # Safety
/// The rules of this module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_truncate(stream: *mut c_void, size: i64) -> c_int {
    value_or(-1, || {
        ensure!(size >= 0, InvalidParam, "`size` is {size}, expected 0 or more");
        // SAFETY: the caller passes NULL or a stream that `blosc2_stdio_open` returned and that is not closed.
        unsafe { stdio::truncate(file_of_stream(stream)?, size) }.map(|()| 0)
    })
}

/// Does nothing: the plain-file back-end has nothing to release. `params` is not used.
///
/// Returns 0.
///
/// # Safety
/// None: `params` is not used.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_destroy(params: *mut c_void) -> c_int {
    let _ = params;
    0
}

/// Maps the file `urlpath` into memory as described by `params`, a `blosc2_stdio_mmap`. The argument `mode` is not
/// used: the mode is `params->mode`, which is set to NULL after the file has been mapped. If `params` has already
/// mapped this file, nothing is done.
///
/// Returns `params`, which is the stream; the caller releases it with `blosc2_stdio_mmap_destroy`. Returns NULL
/// when the file cannot be mapped, for an unknown mode, and when `params` has mapped another file.
///
/// # Safety
/// The rules of this module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_mmap_open(
    urlpath: *const c_char,
    mode: *const c_char,
    params: *mut c_void,
) -> *mut c_void {
    let _ = mode;
    value_or(null_mut(), || {
        // SAFETY: the caller passes a `blosc2_stdio_mmap` that no other code uses during the call, and a string or NULL.
        unsafe { mmap::open(mapping_of_stream(params)?, c_str(urlpath)?) }?;
        Ok(params)
    })
}

/// Does nothing: the file stays mapped until `blosc2_stdio_mmap_destroy`. `stream` is not used.
///
/// Returns 0.
///
/// # Safety
/// None: `stream` is not used.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_mmap_close(stream: *mut c_void) -> c_int {
    let _ = stream;
    0
}

/// Returns the size of the mapped file `stream` in bytes, or -1 for NULL.
///
/// # Safety
/// The rules of this module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_mmap_size(stream: *mut c_void) -> i64 {
    // SAFETY: the caller passes a `blosc2_stdio_mmap` that is not destroyed, and that no other code changes during the call.
    value_or(-1, || Ok(unsafe { mmap::size(mapping_of_stream(stream)?) } as i64))
}

/// Copies the `nitems` items of `size` bytes at `ptr` into the mapped file `stream`, at the byte `position`
/// counted from the start of the file. If necessary the file grows; the mapping can move then, and pointers into
/// it become invalid.
///
/// Returns `nitems`; 0 for no bytes, for invalid arguments, for a read-only mapping, and when the file cannot
/// grow.
///
/// # Safety
/// The rules of this module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_mmap_write(
    ptr: *const c_void,
    size: i64,
    nitems: i64,
    position: i64,
    stream: *mut c_void,
) -> i64 {
    value_or(0, || {
        let (mapping, (len, position)) =
            (mapping_of_stream(stream)?, check_io_range(size, nitems, position)?);
        ensure!(!ptr.is_null() && len != 0, InvalidParam, "`ptr` is NULL, or `size` or `nitems` is 0");
        // SAFETY: the caller passes a `blosc2_stdio_mmap` that no other code uses during the call, and `nitems` items of
        // `size` bytes, together `len` bytes and at least one.
        unsafe { mmap::write(mapping, ptr.cast(), len, position) }.map(|()| nitems)
    })
}

/// Sets `*ptr` to the address of `nitems` items of `size` bytes in the mapped file `stream`, at the byte
/// `position` counted from the start of the file. The memory belongs to the mapping: `*ptr` is valid until the
/// file grows or is unmapped.
///
/// Returns `nitems`; 0, with `*ptr` NULL, for bytes beyond the end of the file and for invalid arguments.
///
/// # Safety
/// The rules of this module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_mmap_read(
    ptr: *mut *mut c_void,
    size: i64,
    nitems: i64,
    position: i64,
    stream: *mut c_void,
) -> i64 {
    value_or(0, || {
        ensure!(!ptr.is_null(), InvalidParam, "`ptr` is NULL");
        // SAFETY: not NULL, and the caller provides space for a pointer.
        unsafe { ptr.write(null_mut()) };
        let (mapping, (len, position)) =
            (mapping_of_stream(stream)?, check_io_range(size, nitems, position)?);
        // SAFETY: the caller passes a `blosc2_stdio_mmap` that is not destroyed, and that no other code changes during
        // the call, and provides space for a pointer at `ptr`.
        unsafe { ptr.write(mmap::read(mapping, position, len as u64)?.cast_mut().cast()) };
        Ok(nitems)
    })
}

/// Sets the length of the mapped file `stream` to `size` bytes: cuts it, or extends it with zeros.
///
/// Returns 0; -1 for NULL, for a negative `size`, for a read-only mapping, and when a system call fails.
///
/// # Safety
/// The rules of this module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_mmap_truncate(stream: *mut c_void, size: i64) -> c_int {
    value_or(-1, || {
        let size =
            u64::try_from(size).map_err(|_| err!(InvalidParam, "`size` is {size}, expected 0 or more"))?;
        // SAFETY: the caller passes a `blosc2_stdio_mmap` that is not destroyed, and that no other code uses during the call.
        unsafe { mmap::truncate(mapping_of_stream(stream)?, size) }.map(|()| 0)
    })
}

/// Writes the changes of a mapped file to disk, unmaps the file and closes it. `params` is the
/// `blosc2_stdio_mmap`; it is freed with `free()` if its field `needs_free` is true.
///
/// Returns 0; -1 for NULL, when no file was mapped, and when a system call fails.
///
/// # Safety
/// The rules of this module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_mmap_destroy(params: *mut c_void) -> c_int {
    // SAFETY: the caller passes a `blosc2_stdio_mmap` that is not destroyed, and that no other code uses during the call.
    value_or(-1, || unsafe { mmap::destroy(mapping_of_stream(params)?) }.map(|()| 0))
}
