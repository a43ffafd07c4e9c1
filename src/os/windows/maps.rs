//! Files mapped into memory. A view is as long as the file: a longer one would make the file longer. So a file that changes
//! its length is mapped again. Appended bytes of private mappings are in memory of the process, to which the whole content
//! moves when it grows.

use super::errors::check;
use super::streams::{file_of, truncate_stream};
use crate::os::types::{Map, MapKind, NO_MAP_HANDLE};
use std::io;
use std::os::windows::io::AsRawHandle;
use std::ptr::null_mut;
use windows_sys::Win32::Foundation::CloseHandle;
use windows_sys::Win32::System::Memory::{
    CreateFileMappingW, FILE_MAP_COPY, FILE_MAP_READ, FILE_MAP_WRITE, FlushViewOfFile, MEM_COMMIT,
    MEM_RELEASE, MEM_RESERVE, MEMORY_MAPPED_VIEW_ADDRESS, MapViewOfFile, PAGE_READONLY, PAGE_READWRITE,
    PAGE_WRITECOPY, UnmapViewOfFile, VirtualAlloc, VirtualFree,
};

/// Returns the protection of the pages (`PAGE_*`) and the access of the view (`FILE_MAP_*`), for the C struct.
pub(crate) fn map_flags(kind: MapKind) -> (i64, i64) {
    let (protection, access) = flags(kind);
    (protection.into(), access.into())
}

fn flags(kind: MapKind) -> (u32, u32) {
    match kind {
        MapKind::Read => (PAGE_READONLY, FILE_MAP_READ),
        MapKind::Write => (PAGE_READWRITE, FILE_MAP_WRITE),
        MapKind::Private => (PAGE_WRITECOPY, FILE_MAP_COPY),
    }
}

/// Maps the file of a stream, of `file_len` bytes.
///
/// # Safety
/// `stream` is open.
pub(crate) unsafe fn map_stream(
    stream: *mut libc::FILE,
    file_len: usize,
    _len: usize,
    kind: MapKind,
) -> io::Result<Map> {
    // An empty file has no view.
    if file_len == 0 {
        return allocate(1);
    }
    let (protection, access) = flags(kind);
    // SAFETY: the handle of an open file (guaranteed by the caller). The length 0 stands for that of the file.
    unsafe {
        let file = file_of(stream).as_raw_handle();
        let handle = CreateFileMappingW(file, std::ptr::null(), protection, 0, 0, std::ptr::null());
        check(!handle.is_null())?;
        let view = MapViewOfFile(handle, access, 0, 0, file_len);
        if view.Value.is_null() {
            let error = io::Error::last_os_error();
            CloseHandle(handle);
            return Err(error);
        }
        Ok(Map { addr: view.Value.cast(), len: file_len, file_backed_len: file_len, handle })
    }
}

/// Returns memory of the process.
fn allocate(len: usize) -> io::Result<Map> {
    // SAFETY: new memory.
    let addr = unsafe { VirtualAlloc(std::ptr::null(), len, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE) };
    check(!addr.is_null())?;
    Ok(Map { addr: addr.cast(), len, file_backed_len: 0, handle: null_mut() })
}

/// Sets the length of the file of a shared mapping to `len` bytes, and maps it again. After an error of the second
/// step, the file is not mapped.
///
/// # Safety
/// `stream` and `map` are those of [`map_stream`] with [`MapKind::Write`]. No other code uses the mapping.
pub(crate) unsafe fn resize_shared(map: &mut Map, stream: *mut libc::FILE, len: usize) -> io::Result<()> {
    let file_len = i64::try_from(len).map_err(|_| io::ErrorKind::InvalidInput)?;
    let old_len = map.len;
    let no_map = Map { addr: null_mut(), len: 0, file_backed_len: 0, handle: NO_MAP_HANDLE };
    // SAFETY: guaranteed by the caller. A file with a view cannot become shorter.
    unsafe {
        unmap(std::mem::replace(map, no_map))?;
        let resized = truncate_stream(stream, file_len);
        *map = map_stream(stream, if resized.is_ok() { len } else { old_len }, 0, MapKind::Write)?;
        resized
    }
}

/// Moves a private mapping to `len` bytes of memory of the process; `used` bytes are copied.
///
/// # Safety
/// `map` is a private mapping of [`map_stream`] or of this function, `len` is more than its length, and no other code
/// uses it.
pub(crate) unsafe fn grow_private(map: &mut Map, used: usize, len: usize) -> io::Result<()> {
    let new = allocate(len)?;
    let old = std::mem::replace(map, new);
    // SAFETY: both reach that far (the old one is at least as long as its content), and they are different ones.
    unsafe {
        new.addr.copy_from_nonoverlapping(old.addr, used);
        unmap(old)
    }
}

/// Writes the first `len` bytes of a shared mapping to its file.
///
/// # Safety
/// `map` is a mapping of [`map_stream`], at least `len` bytes long.
pub(crate) unsafe fn flush(map: Map, len: usize) -> io::Result<()> {
    // SAFETY: guaranteed by the caller.
    check(map.handle.is_null() || unsafe { FlushViewOfFile(map.addr.cast(), len) } != 0)
}

/// Unmaps a file.
///
/// # Safety
/// `map` is a mapping of [`map_stream`] or [`grow_private`] that no other code uses any more.
pub(crate) unsafe fn unmap(map: Map) -> io::Result<()> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if map.handle.is_null() {
            return check(VirtualFree(map.addr.cast(), 0, MEM_RELEASE) != 0);
        }
        let unmapped = check(UnmapViewOfFile(MEMORY_MAPPED_VIEW_ADDRESS { Value: map.addr.cast() }) != 0);
        check(CloseHandle(map.handle) != 0)?;
        unmapped
    }
}
