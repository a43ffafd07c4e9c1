//! The I/O back-ends: registering a program's own, and the functions of the library's two (`abi.md` 2.8, 2.10).
//!
//! A stream of the plain files is a `blosc2_stdio_file`, one of the mapped files is the `blosc2_stdio_mmap` that
//! was given as parameters. The rules for both, in addition to those of the module `capi`: a stream is NULL or
//! came from the back-end's `open` and was neither closed nor destroyed; only reads may happen in several threads
//! at once.

use super::ffi::{code, guard, string};
use super::name;
use crate::abi::{
    BLOSC2_IO_FILESYSTEM, BLOSC2_IO_FILESYSTEM_MMAP, CBool, blosc2_io_cb, blosc2_stdio_file,
    blosc2_stdio_mmap,
};
use crate::err;
use crate::error::Result;
use crate::io::{mmap, registry, stdio};
use std::cell::UnsafeCell;
use std::ffi::{c_char, c_int, c_void};
use std::ptr::null_mut;

/// An entry for C, which may be told its address.
struct BuiltIn(UnsafeCell<blosc2_io_cb>);

// SAFETY: the library only hands out the address, and neither reads nor writes what is there.
unsafe impl Sync for BuiltIn {}

static FILESYSTEM: BuiltIn = BuiltIn(UnsafeCell::new(blosc2_io_cb {
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

static FILESYSTEM_MMAP: BuiltIn = BuiltIn(UnsafeCell::new(blosc2_io_cb {
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

/// Adds `io`, an I/O back-end of the caller's. The struct and its name are copied; the functions must stay
/// loaded. The name may be NULL or uninitialised: where no string can be read there is no name.
///
/// Returns 0, also when the id is registered under the same name already (the old functions stay). -30 for an
/// id below 160 or one that is taken under another name, or when there are 255 back-ends, -12 for NULL.
///
/// # Safety
/// The rules of the module `capi`; the functions obey the contracts of their typedefs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_register_io_cb(io: *const blosc2_io_cb) -> c_int {
    code(|| {
        // SAFETY: by the rules of the module.
        let io = unsafe { io.as_ref() }.ok_or_else(|| err!(InvalidParam, "nothing to register"))?;
        let name = name::copy_if_readable(io.name);
        // SAFETY: as above.
        unsafe { registry::register(io, name.as_deref()) }.map(|()| 0)
    })
}

/// The I/O back-end `id`: 0 for plain files, 1 for mapped ones, or one that was registered.
///
/// Returns its entry in the library's table, which stays there for the life of the process, or NULL.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_get_io_cb(id: u8) -> *mut blosc2_io_cb {
    guard(
        |_| null_mut(),
        || {
            Ok(match i32::from(id) {
                BLOSC2_IO_FILESYSTEM => FILESYSTEM.0.get(),
                BLOSC2_IO_FILESYSTEM_MMAP => FILESYSTEM_MMAP.0.get(),
                _ => registry::entry(id).ok_or_else(|| err!(PluginIo, "no I/O back-end has the id {id}"))?,
            })
        },
    )
}

/// The bytes of `nitems` items, and their position. What is refused is told apart by nobody.
fn range(size: i64, nitems: i64, position: i64) -> Result<(usize, u64)> {
    let product = size.checked_mul(nitems).filter(|_| size >= 0 && nitems >= 0);
    match (product.map(usize::try_from), u64::try_from(position)) {
        (Some(Ok(len)), Ok(position)) => Ok((len, position)),
        _ => Err(err!(InvalidParam, "{nitems} items of {size} bytes at {position}")),
    }
}

/// Whole items in `done` bytes.
fn items(done: usize, size: i64) -> i64 {
    (done as i64).checked_div(size).unwrap_or(0)
}

/// The file of a stream.
///
/// # Safety
/// The rules of this module.
unsafe fn file(stream: *mut c_void) -> Result<*mut libc::FILE> {
    // SAFETY: NULL or a stream of ours.
    match unsafe { stream.cast::<blosc2_stdio_file>().as_ref() } {
        Some(stream) if !stream.file.is_null() => Ok(stream.file),
        _ => Err(err!(InvalidParam, "the stream is NULL")),
    }
}

/// The mapping of a stream.
fn mapping(stream: *mut c_void) -> Result<*mut blosc2_stdio_mmap> {
    if stream.is_null() {
        return Err(err!(InvalidParam, "the stream is NULL"));
    }
    Ok(stream.cast())
}

/// Opens the plain file `urlpath` with `fopen` in this `mode`. `params` is not used.
///
/// Returns the stream, a `blosc2_stdio_file` for `blosc2_stdio_close`, or NULL. Only reads of one stream may happen in
/// several threads at once.
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
    // SAFETY: by the rules of the module.
    guard(|_| null_mut(), || Ok(unsafe { stdio::open(string(urlpath)?, string(mode)?) }?.cast()))
}

/// Closes a plain file, and frees `stream`, which `blosc2_stdio_open` made.
///
/// Returns what `fclose` does, or -1 for NULL.
///
/// # Safety
/// The rules of this module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_close(stream: *mut c_void) -> c_int {
    guard(
        |_| -1,
        || {
            // SAFETY: by the rules of this module.
            unsafe { file(stream) }?;
            // SAFETY: as above; its file is open.
            Ok(unsafe { stdio::close(stream.cast()) })
        },
    )
}

/// Returns the size of the plain file `stream` in bytes, or -1. The position of its `FILE` stays.
///
/// # Safety
/// The rules of this module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_size(stream: *mut c_void) -> i64 {
    // SAFETY: by the rules of this module.
    guard(|_| -1, || unsafe { stdio::size(file(stream)?) })
}

/// Writes the `nitems` items of `size` bytes at `ptr` to the plain file `stream` at the absolute byte
/// `position`, past the buffer of the `FILE`.
///
/// Returns the items that were written whole; 0 for arguments that make no sense.
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
    guard(
        |_| 0,
        || {
            // SAFETY: by the rules of this module.
            let (file, (len, _)) = (unsafe { file(stream) }?, range(size, nitems, position)?);
            if ptr.is_null() {
                return Err(err!(InvalidParam, "nothing to write"));
            }
            // SAFETY: as above.
            Ok(items(unsafe { stdio::write(file, ptr, len, position) }, size))
        },
    )
}

/// Reads `nitems` items of `size` bytes of the plain file `stream` at the absolute byte `position` into the
/// buffer at `*ptr`.
///
/// Returns the items that were read whole; 0 for arguments that make no sense.
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
    guard(
        |_| 0,
        || {
            // SAFETY: by the rules of this module.
            let (file, (len, _)) = (unsafe { file(stream) }?, range(size, nitems, position)?);
            // SAFETY: as above: NULL or readable.
            let dest = unsafe { ptr.as_ref() }.copied().unwrap_or(null_mut());
            if dest.is_null() {
                return Err(err!(InvalidParam, "nowhere to read to"));
            }
            // SAFETY: as above.
            Ok(items(unsafe { stdio::read(file, dest, len, position) }, size))
        },
    )
}

/// Cuts the plain file `stream` to `size` bytes, or extends it with zeros.
///
/// Returns what `ftruncate` does, or -1 for NULL and a negative size.
///
/// # Safety
/// The rules of this module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_truncate(stream: *mut c_void, size: i64) -> c_int {
    guard(
        |_| -1,
        || {
            if size < 0 {
                return Err(err!(InvalidParam, "a file of {size} bytes"));
            }
            // SAFETY: by the rules of this module.
            Ok(unsafe { stdio::truncate(file(stream)?, size) })
        },
    )
}

/// Has nothing to release: `params` is not used.
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

/// Maps the file `urlpath` as `params`, a `blosc2_stdio_mmap`, says. The argument `mode` is not used; the one
/// in `params` is set to NULL once the file is mapped. A file that `params` has mapped already is not mapped
/// again.
///
/// Returns `params`, which is the stream, or NULL, also when `params` has mapped another file.
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
    guard(
        |_| null_mut(),
        || {
            // SAFETY: by the rules of this module.
            unsafe { mmap::open(mapping(params)?, string(urlpath)?) }?;
            Ok(params)
        },
    )
}

/// Leaves the mapping as it is, `stream` is not used: `blosc2_stdio_mmap_destroy` unmaps it.
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
    // SAFETY: by the rules of this module.
    guard(|_| -1, || Ok(unsafe { mmap::size(mapping(stream)?) } as i64))
}

/// Copies the `nitems` items of `size` bytes at `ptr` into the mapped file `stream` at the byte `position`.
/// The file grows if need be, and may move then: pointers into the mapping are not valid any more.
///
/// Returns `nitems`; 0 for no bytes, for arguments that make no sense, for a mapping that is only for
/// reading, and when the file cannot grow.
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
    guard(
        |_| 0,
        || {
            let (mapping, (len, position)) = (mapping(stream)?, range(size, nitems, position)?);
            if ptr.is_null() || len == 0 {
                return Err(err!(InvalidParam, "nothing to write"));
            }
            // SAFETY: by the rules of this module.
            unsafe { mmap::write(mapping, ptr.cast(), len, position) }.map(|()| nitems)
        },
    )
}

/// Points `*ptr` at `nitems` items of `size` bytes in the mapped file `stream`, at the byte `position`. A
/// write moves them.
///
/// Returns `nitems`; or 0, with `*ptr` NULL, for what the file does not have and for arguments that make no
/// sense.
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
    guard(
        |_| 0,
        || {
            // SAFETY: by the rules of this module: NULL or writable.
            let place =
                unsafe { ptr.as_mut() }.ok_or_else(|| err!(InvalidParam, "no place for a pointer"))?;
            *place = null_mut();
            let (mapping, (len, position)) = (mapping(stream)?, range(size, nitems, position)?);
            // SAFETY: by the rules of this module.
            *place = unsafe { mmap::read(mapping, position, len as u64) }?.cast_mut().cast();
            Ok(nitems)
        },
    )
}

/// Cuts the mapped file `stream` to `size` bytes, or extends it with zeros.
///
/// Returns 0, or -1: for NULL, a negative size, a mapping that is only for reading, or when the system fails.
///
/// # Safety
/// The rules of this module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_mmap_truncate(stream: *mut c_void, size: i64) -> c_int {
    guard(
        |_| -1,
        || {
            let size = u64::try_from(size).map_err(|_| err!(InvalidParam, "a file of {size} bytes"))?;
            // SAFETY: by the rules of this module.
            unsafe { mmap::truncate(mapping(stream)?, size) }.map(|()| 0)
        },
    )
}

/// Writes a mapped file out, unmaps and closes it; frees `params`, a `blosc2_stdio_mmap`, if its `needs_free` says
/// so.
///
/// Returns 0, or -1: for NULL, when nothing was mapped, or when the system fails.
///
/// # Safety
/// The rules of this module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_mmap_destroy(params: *mut c_void) -> c_int {
    // SAFETY: by the rules of this module.
    guard(|_| -1, || unsafe { mmap::destroy(mapping(params)?) }.map(|()| 0))
}
