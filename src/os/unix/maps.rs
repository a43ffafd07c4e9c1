//! Files mapped into memory. Private mappings are pages of the file over the beginning of anonymous memory, which has space
//! for appended bytes: pages beyond the end of a mapped file cannot be accessed.

use crate::os::posix::truncate_stream;
use crate::os::types::{Map, MapKind, NO_MAP_HANDLE};
use std::ffi::{c_int, c_void};
use std::io;
use std::ptr::null_mut;

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
use libc::mmap;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
use libc::mmap64 as mmap;

const READ_WRITE: c_int = libc::PROT_READ | libc::PROT_WRITE;

#[cfg(target_os = "linux")]
const ANONYMOUS_FLAGS: c_int = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
#[cfg(not(target_os = "linux"))]
const ANONYMOUS_FLAGS: c_int = libc::MAP_PRIVATE | libc::MAP_ANON;

/// Returns the protection (`PROT_*`) and the flags (`MAP_*`) of a mapping, for the C struct.
pub(crate) fn map_flags(kind: MapKind) -> (i64, i64) {
    let (access, flags) = match kind {
        MapKind::Read => (libc::PROT_READ, libc::MAP_SHARED),
        MapKind::Write => (READ_WRITE, libc::MAP_SHARED),
        MapKind::Private => (READ_WRITE, libc::MAP_PRIVATE),
    };
    (access.into(), flags.into())
}

/// Maps the file of a stream, of `file_len` bytes, in `len` bytes of addresses, at least `file_len` and one.
///
/// # Safety
/// `stream` is open.
pub(crate) unsafe fn map_stream(
    stream: *mut libc::FILE,
    file_len: usize,
    len: usize,
    kind: MapKind,
) -> io::Result<Map> {
    // SAFETY: by the contract `stream` is open.
    let fd = unsafe { libc::fileno(stream) };
    let access = if kind == MapKind::Read { libc::PROT_READ } else { READ_WRITE };
    if kind != MapKind::Private {
        // SAFETY: without MAP_FIXED no mapping is replaced.
        let addr = unsafe { map_at(null_mut(), len, access, libc::MAP_SHARED, fd) }?;
        return Ok(Map { addr: addr.cast(), len, file_backed_len: 0, handle: NO_MAP_HANDLE });
    }
    let addr = map_anonymous(len)?;
    let map =
        Map { addr: addr.cast(), len, file_backed_len: round_up_to_pages(file_len), handle: NO_MAP_HANDLE };
    if file_len > 0 {
        // SAFETY: whole pages of the new mapping, which is no shorter and which nothing refers to.
        let mapped = unsafe { map_at(addr, file_len, access, libc::MAP_PRIVATE | libc::MAP_FIXED, fd) };
        // SAFETY: the new mapping.
        mapped.inspect_err(|_| unsafe { unmap(map) }.unwrap_or(()))?;
    }
    Ok(map)
}

/// Sets the length of the file of a shared mapping to `len` bytes. The mapping grows to twice `len` if it is shorter, and
/// may move, also after an error.
///
/// # Safety
/// `stream` and `map` are those of [`map_stream`] with [`MapKind::Write`]. No other code uses the mapping.
pub(crate) unsafe fn resize_shared(map: &mut Map, stream: *mut libc::FILE, len: usize) -> io::Result<()> {
    let file_len = i64::try_from(len).map_err(|_| io::ErrorKind::InvalidInput)?;
    if len > map.len {
        let new_len = len.checked_mul(2).unwrap_or(len);
        // SAFETY: guaranteed by the caller.
        map.addr = unsafe { grow_shared(map, stream, new_len) }?.cast();
        map.len = new_len;
    }
    // SAFETY: by the contract `stream` is open.
    unsafe { truncate_stream(stream, file_len) }
}

/// Moves a shared mapping to `len` bytes of addresses.
///
/// # Safety
/// That of [`resize_shared`].
#[cfg(target_os = "linux")]
unsafe fn grow_shared(map: &Map, _: *mut libc::FILE, len: usize) -> io::Result<*mut c_void> {
    // SAFETY: a single mapping, which this module made; no other code uses its old address.
    check_addr(unsafe { libc::mremap(map.addr.cast(), map.len, len, libc::MREMAP_MAYMOVE) })
}

/// Moves a shared mapping to `len` bytes of addresses.
///
/// # Safety
/// That of [`resize_shared`].
#[cfg(not(target_os = "linux"))]
unsafe fn grow_shared(map: &Map, stream: *mut libc::FILE, len: usize) -> io::Result<*mut c_void> {
    // SAFETY: without MAP_FIXED no mapping is replaced.
    let addr = unsafe { map_at(null_mut(), len, READ_WRITE, libc::MAP_SHARED, libc::fileno(stream)) }?;
    // SAFETY: guaranteed by the caller, the old mapping.
    let _ = unsafe { unmap(*map) };
    Ok(addr)
}

/// Moves a private mapping to a longer one of `len` bytes: the pages of the file by remapping where the system supports
/// it, the bytes behind them, up to `used`, by copying.
///
/// # Safety
/// `map` is a private mapping of [`map_stream`], `len` is more than its length, and no other code uses it.
pub(crate) unsafe fn grow_private(map: &mut Map, used: usize, len: usize) -> io::Result<()> {
    let old = *map;
    let new: *mut u8 = map_anonymous(len)?.cast();
    // SAFETY: the first pages of the old mapping, which no other code uses (guaranteed by the caller), and of the
    // longer new one.
    let moved = unsafe { move_pages(old.addr.cast(), new.cast(), old.file_backed_len) };
    let from = if moved { old.file_backed_len } else { 0 };
    if used > from {
        // SAFETY: both mappings reach that far, and they are different ones.
        unsafe { new.add(from).copy_from_nonoverlapping(old.addr.add(from), used - from) };
    }
    let left = round_up_to_pages(old.len) - from;
    if left > 0 {
        // SAFETY: the rest of the old mapping, which no other code uses (guaranteed by the caller).
        unsafe { libc::munmap(old.addr.add(from).cast(), left) };
    }
    *map = Map { addr: new, len, file_backed_len: from, handle: NO_MAP_HANDLE };
    Ok(())
}

/// Moves the first `len` bytes of a mapping over those of another one. Returns false if the system cannot move them.
///
/// # Safety
/// Whole pages of two mappings of the library, which no other code uses.
#[cfg(target_os = "linux")]
unsafe fn move_pages(from: *mut c_void, to: *mut c_void, len: usize) -> bool {
    // SAFETY: guaranteed by the caller.
    len == 0 || unsafe { libc::mremap(from, len, len, libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED, to) } == to
}

/// Returns false: only Linux can move pages.
///
/// # Safety
/// No requirements; `unsafe` for the same signature as on Linux.
#[cfg(not(target_os = "linux"))]
unsafe fn move_pages(_: *mut c_void, _: *mut c_void, _: usize) -> bool {
    false
}

/// Writes the first `len` bytes of a shared mapping to its file.
///
/// # Safety
/// `map` is a mapping of [`map_stream`], at least `len` bytes long.
pub(crate) unsafe fn flush(map: Map, len: usize) -> io::Result<()> {
    // SAFETY: guaranteed by the caller.
    check(unsafe { libc::msync(map.addr.cast(), len, libc::MS_SYNC) })
}

/// Unmaps a file.
///
/// # Safety
/// `map` is a mapping of [`map_stream`] that no other code uses any more.
pub(crate) unsafe fn unmap(map: Map) -> io::Result<()> {
    // SAFETY: guaranteed by the caller.
    check(unsafe { libc::munmap(map.addr.cast(), map.len) })
}

fn map_anonymous(len: usize) -> io::Result<*mut c_void> {
    // SAFETY: without MAP_FIXED no mapping is replaced.
    unsafe { map_at(null_mut(), len, READ_WRITE, ANONYMOUS_FLAGS, -1) }
}

/// Makes a mapping of `len` bytes.
///
/// # Safety
/// With `MAP_FIXED`, the pages of `len` bytes at `at` are a mapping of the library that no other code uses.
unsafe fn map_at(
    at: *mut c_void,
    len: usize,
    access: c_int,
    flags: c_int,
    fd: c_int,
) -> io::Result<*mut c_void> {
    // SAFETY: a new mapping, or one that replaces another, for which the caller guarantees that no other code uses it.
    check_addr(unsafe { mmap(at, len, access, flags, fd, 0) })
}

fn check_addr(addr: *mut c_void) -> io::Result<*mut c_void> {
    if addr == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(addr) }
}

fn check(result: c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Returns `len` rounded up to whole pages.
fn round_up_to_pages(len: usize) -> usize {
    // SAFETY: no pointers; the page size is always known.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
    len.checked_next_multiple_of(page).unwrap_or(len)
}
