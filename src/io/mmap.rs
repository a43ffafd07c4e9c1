//! Files mapped into memory: the work on a `blosc2_stdio_mmap` (`frame.md` 5.5, `abi.md` 3.13).
//!
//! The struct belongs to the program, which may read it and pass it to several back-ends; the state of a mapping is in
//! its fields only and is not cached elsewhere. Modes `r`, `r+` and `w+` share the pages of the file. In mode `c` the
//! file is never changed: its pages are mapped privately over the beginning of anonymous memory, which has space for
//! appended bytes (pages beyond the end of a mapped file cannot be accessed).
//!
//! Any number of threads may read at once; mapping, writing, truncating and destroying exclude all other uses
//! ([`Mapping`]).

use super::borrowed_bytes::BorrowedBytes;
use crate::abi::blosc2_stdio_mmap;
use crate::error::{Result, ensure, os_err};
use crate::fork_count::PerProcessLock;
use crate::malloc::MallocBytes;
use crate::os::{self, Map, MapKind};
use crate::{err, trace};
use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::io;
use std::ptr::null_mut;

/// The parameters of a back-end as a value that threads may share.
pub(super) struct Mapping {
    params: *mut blosc2_stdio_mmap,
    /// Whether the struct is still valid. Locked shared while the mapping is read, and exclusively while it changes.
    /// Functions of the program (filters, codecs and the threads callback) may run while bytes of the mapping are
    /// borrowed to decode them. They may read the file, since a thread may hold several shared locks, but must not
    /// change it: the exclusive lock would never be granted.
    is_valid: RwLock<bool>,
}

// SAFETY: the caller of `new` guarantees that the struct may be used from any thread.
unsafe impl Send for Mapping {}
// SAFETY: by the contract of `new` any thread may use the struct; the lock `is_valid` excludes changes during reads.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Returns a mapping without a mapped file.
    ///
    /// # Safety
    /// `params` is NULL or points at an initialised struct, valid until `destroy` or for the lifetime of the result. No
    /// other code changes the struct or its mapping while a method of this type runs or bytes are borrowed: a program
    /// that gives the same struct to several back-ends does not write through one of them while another is in use.
    pub(super) unsafe fn new(params: *mut blosc2_stdio_mmap) -> Self {
        Mapping { params, is_valid: RwLock::new(true) }
    }

    /// Locks the struct for reading. A thread may hold several of these guards; while it holds one it must not wait for
    /// other threads.
    fn lock_shared(&self) -> (Option<*const blosc2_stdio_mmap>, RwLockReadGuard<'_, bool>) {
        let is_valid = self.is_valid.read_recursive();
        let params = (*is_valid && !self.params.is_null()).then_some(self.params.cast_const());
        (params, is_valid)
    }

    /// Locks the struct for a change.
    fn lock_exclusive(&self) -> (Option<*mut blosc2_stdio_mmap>, RwLockWriteGuard<'_, bool>) {
        let is_valid = self.is_valid.write();
        let params = (*is_valid && !self.params.is_null()).then_some(self.params);
        (params, is_valid)
    }

    pub(super) fn open(&self, path: &CStr) -> Result<()> {
        let no_params = || err!(FileOpen, "cannot map {path:?}: no parameters, or destroyed ones");
        {
            let (params, _shared) = self.lock_shared();
            let params = params.ok_or_else(no_params)?;
            // SAFETY: the struct is valid by the contract of `new`, and not changed while `_shared` is held.
            if let Some(checked) = unsafe { check_mapped(params, path) } {
                return checked;
            }
        }
        let (params, _exclusive) = self.lock_exclusive();
        // SAFETY: the struct is valid by the contract of `new`, and not used elsewhere while `_exclusive` is held.
        unsafe { open(params.ok_or_else(no_params)?, path) }
    }

    pub(super) fn size(&self) -> Result<u64> {
        let (params, _shared) = self.lock_shared();
        let params = params.ok_or_else(|| err!(FileRead, "no mapping parameters, or destroyed ones"))?;
        // SAFETY: the struct is valid by the contract of `new`, and not changed while `_shared` is held.
        Ok(unsafe { size(params) })
    }

    pub(super) fn borrow_at(&self, position: u64, len: usize) -> Result<BorrowedBytes<'_>> {
        let (params, shared) = self.lock_shared();
        let params = params.ok_or_else(|| err!(FileRead, "no mapping parameters, or destroyed ones"))?;
        // SAFETY: the struct is valid by the contract of `new`; `read` has checked that the range lies in the mapping,
        // which neither moves nor changes during the lifetime of the guard.
        let bytes = unsafe { std::slice::from_raw_parts(read(params, position, len as u64)?, len) };
        Ok(BorrowedBytes::new(bytes, Some(shared)))
    }

    pub(super) fn read_at(&self, position: u64, dest: &mut [u8]) -> Result<usize> {
        // The guard keeps the length unchanged until the bytes are read.
        let _shared = self.lock_shared();
        let there = self.size()?.saturating_sub(position);
        let len = dest.len().min(usize::try_from(there).unwrap_or(usize::MAX));
        if len > 0 {
            dest[..len].copy_from_slice(&self.borrow_at(position, len)?);
        }
        Ok(len)
    }

    pub(super) fn write_at(&self, position: u64, bytes: &[u8]) -> Result<()> {
        let (params, _exclusive) = self.lock_exclusive();
        let params = params.ok_or_else(|| err!(FileWrite, "no mapping parameters, or destroyed ones"))?;
        if bytes.is_empty() {
            return Ok(());
        }
        // SAFETY: the struct is valid by the contract of `new`, and not used elsewhere while `_exclusive` is held.
        unsafe { write(params, bytes.as_ptr(), bytes.len(), position) }
    }

    pub(super) fn truncate(&self, len: u64) -> Result<()> {
        let (params, _exclusive) = self.lock_exclusive();
        let params = params.ok_or_else(|| err!(FileTruncate, "no mapping parameters, or destroyed ones"))?;
        // SAFETY: the struct is valid by the contract of `new`, and not used elsewhere while the lock is held
        // exclusively.
        unsafe { truncate(params, len) }
    }

    pub(super) fn destroy(&self) -> Result<()> {
        let (params, mut is_valid) = self.lock_exclusive();
        let Some(params) = params else { return Ok(()) };
        *is_valid = false;
        // SAFETY: the struct is valid by the contract of `new`, and not used elsewhere while the lock is held
        // exclusively, nor afterwards, since `is_valid` is false.
        unsafe { destroy(params) }
    }
}

/// The mode of `fopen` and the kind of the mapping for a mode of the struct.
struct MmapMode {
    name: &'static CStr,
    fopen: &'static CStr,
    kind: MapKind,
}

const MODES: [MmapMode; 4] = [
    MmapMode { name: c"r", fopen: c"rb", kind: MapKind::Read },
    MmapMode { name: c"r+", fopen: c"rb+", kind: MapKind::Write },
    MmapMode { name: c"w+", fopen: c"wb+", kind: MapKind::Write },
    MmapMode { name: c"c", fopen: c"rb", kind: MapKind::Private },
];

/// For each private mapping, by its address: the number of bytes, in whole pages, that are pages of the file. The pages
/// behind them are anonymous memory. The C struct has no field for this number.
static FILE_BACKED_LENS: PerProcessLock<BTreeMap<usize, usize>> = PerProcessLock::new_static(BTreeMap::new());

/// Maps the file at `path` in the mode of the struct. If the struct has mapped it already, does nothing.
///
/// # Errors
/// `FileOpen`, also for an unknown mode, and if the struct has mapped a file of another path.
///
/// # Safety
/// `params` points at an initialised struct; no other code uses it during the call, unless it has a mapping.
pub(crate) unsafe fn open(params: *mut blosc2_stdio_mmap, path: &CStr) -> Result<()> {
    // SAFETY: by the contract `params` points at an initialised struct, and other code at most reads it.
    if let Some(checked) = unsafe { check_mapped(params, path) } {
        return checked;
    }
    // SAFETY: an initialised struct by the contract; the reference is not used once the file is mapped.
    let shared = unsafe { &*params };
    ensure!(!shared.mode.is_null(), FileOpen, "cannot map {path:?}: `mode` is NULL");
    // SAFETY: not NULL; the mode of an initialised struct is a NUL-terminated string.
    let name = unsafe { CStr::from_ptr(shared.mode) };
    let mode = MODES
        .iter()
        .find(|mode| mode.name == name)
        .ok_or_else(|| err!(FileOpen, "`mode` is {name:?}, expected `r`, `r+`, `w+` or `c`"))?;
    let file = os::open_stream(path, mode.fopen);
    if file.is_null() {
        return Err(err!(FileOpen, "cannot open {path:?} in mode {name:?}: {}", io::Error::last_os_error()));
    }
    // SAFETY: an open file.
    let made = unsafe { os::len_of_stream_file(file) }.and_then(|file_size| {
        let file_size = usize::try_from(file_size).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let asked = if mode.kind == MapKind::Read { file_size } else { shared.initial_mapping_size };
        // SAFETY: an open file.
        let map = unsafe { os::map_stream(file, file_size, asked.max(file_size).max(1), mode.kind) }?;
        let Ok(urlpath) = MallocBytes::copy_of(path.to_bytes_with_nul()) else {
            // SAFETY: the new mapping, which nothing refers to.
            let _ = unsafe { os::unmap(map) };
            return Err(io::ErrorKind::OutOfMemory.into());
        };
        Ok((map, urlpath, file_size))
    });
    let (map, urlpath, file_size) = made.map_err(|error| {
        // SAFETY: open, and closed once.
        unsafe { libc::fclose(file) };
        os_err!(error, FileOpen, "cannot map {path:?} in mode {name:?}: {error}")
    })?;
    let mapping_size = map.len;
    trace::info(|| {
        format!(
            "Opened memory-mapped file {} in mode {} with an mapping size of {mapping_size} bytes.",
            path.to_string_lossy(),
            name.to_string_lossy()
        )
    });
    // SAFETY: `check_mapped` has found no mapping, so by the contract no other code uses the struct.
    let params = unsafe { &mut *params };
    params.urlpath = urlpath.into_raw().cast();
    params.file_size = file_size;
    params.is_memory_only = (mode.kind == MapKind::Private).into();
    params.file = file;
    // SAFETY: an open file.
    params.fd = unsafe { libc::fileno(file) };
    (params.access_flags, params.map_flags) = os::map_flags(mode.kind);
    store_map(params, map);
    // The string may be freed after the call; a struct that is used again must be given a mode again.
    params.mode = std::ptr::null();
    Ok(())
}

/// Returns `Ok` if the struct has mapped the file at `path`, `FileOpen` if it has mapped another file; `None` if it has
/// mapped none.
///
/// # Safety
/// `params` points at an initialised struct that no other code changes during the call.
unsafe fn check_mapped(params: *const blosc2_stdio_mmap, path: &CStr) -> Option<Result<()>> {
    // SAFETY: by the contract an initialised struct that no other code changes during the call.
    let params = unsafe { &*params };
    if params.addr.is_null() {
        return None;
    }
    // SAFETY: `urlpath` of a mapping is a copy that this library made.
    let mapped = unsafe { CStr::from_ptr(params.urlpath) };
    Some(if mapped == path {
        Ok(())
    } else {
        Err(err!(FileOpen, "cannot map {path:?}: these parameters have already mapped {mapped:?}"))
    })
}

/// Returns the length of the file in bytes.
///
/// # Safety
/// `params` points at an initialised struct that no other code changes during the call.
pub(crate) unsafe fn size(params: *const blosc2_stdio_mmap) -> u64 {
    // SAFETY: by the contract an initialised struct that no other code changes during the call.
    unsafe { (*params).file_size as u64 }
}

/// Returns the address of the `len` bytes at `position`. It is valid until the file grows.
///
/// # Errors
/// `FileRead` for a range beyond the end of the file, and without a mapping.
///
/// # Safety
/// `params` points at an initialised struct that no other code changes during the call.
pub(crate) unsafe fn read(params: *const blosc2_stdio_mmap, position: u64, len: u64) -> Result<*const u8> {
    // SAFETY: by the contract an initialised struct that no other code changes during the call.
    let params = unsafe { &*params };
    ensure!(!params.addr.is_null(), FileRead, "the file is not mapped");
    match checked_range(position, len) {
        // SAFETY: a position within the mapping, which is no smaller than the file.
        Some((position, end)) if end <= params.file_size => Ok(unsafe { params.addr.add(position) }.cast()),
        _ => Err(err!(
            FileRead,
            "{len} bytes at {position} exceed the mapped file of {} bytes",
            params.file_size
        )),
    }
}

/// Copies bytes into the mapping; the file grows if necessary. The source may lie in the mapping itself.
///
/// # Errors
/// `FileWrite`, always for a read-only mapping; the length of the file is unchanged then.
///
/// # Safety
/// `params` points at an initialised struct that no other code uses during the call, `bytes` at `len` readable bytes,
/// at least one.
pub(crate) unsafe fn write(
    params: *mut blosc2_stdio_mmap,
    bytes: *const u8,
    len: usize,
    position: u64,
) -> Result<()> {
    // SAFETY: by the contract an initialised struct that no other code uses during the call.
    let params = unsafe { &mut *params };
    ensure!(is_writable(params), FileWrite, "the file is not mapped for writing");
    let (position, end) = checked_range(position, len as u64)
        .ok_or_else(|| err!(FileWrite, "{len} bytes at {position} exceed the maximum file length"))?;
    let (before, length_before) = (params.addr, params.file_size);
    if end > params.file_size {
        // SAFETY: no other code uses the struct by the contract; `is_writable`: its file is mapped for writing.
        unsafe { set_length(params, end, position) }
            .map_err(|error| os_err!(error, FileWrite, "cannot grow the file to {end} bytes: {error}"))?;
    }
    // A source inside the mapping has moved with it. Only a source that begins before the old end of the file is
    // inside; memory behind it may belong to other code. The addresses are compared as integers.
    let offset = (bytes as usize).wrapping_sub(before as usize);
    let bytes = if params.addr != before && offset < length_before {
        // SAFETY: the same bytes, at their address in the moved mapping.
        unsafe { params.addr.add(offset) }.cast_const().cast()
    } else {
        bytes
    };
    // SAFETY: the file has grown to `end`, and the mapping is not shorter.
    unsafe { params.addr.add(position).cast::<u8>().copy_from(bytes, len) };
    Ok(())
}

/// Truncates or extends the file to `len` bytes. New bytes are 0.
///
/// # Errors
/// `FileTruncate`, also for a read-only mapping unless it has that length already; the length of the file is unchanged
/// then.
///
/// # Safety
/// `params` points at an initialised struct that no other code uses during the call.
pub(crate) unsafe fn truncate(params: *mut blosc2_stdio_mmap, len: u64) -> Result<()> {
    // SAFETY: by the contract an initialised struct that no other code uses during the call.
    let params = unsafe { &mut *params };
    if len == params.file_size as u64 {
        return Ok(());
    }
    ensure!(is_writable(params), FileTruncate, "the file is not mapped for writing");
    let len =
        usize::try_from(len).map_err(|_| err!(FileTruncate, "the length {len} exceeds the address space"))?;
    // SAFETY: no other code uses the struct by the contract; `is_writable`: its file is mapped for writing.
    unsafe { set_length(params, len, len) }
        .map_err(|error| os_err!(error, FileTruncate, "cannot set the length to {len} bytes: {error}"))
}

/// Flushes the mapping to the file, unmaps and closes it. Frees the struct if its `needs_free` is set, even after an
/// error.
///
/// # Errors
/// `Failure` when nothing was mapped, and when a system call fails.
///
/// # Safety
/// `params` points at an initialised struct that no other code uses during the call. If its `needs_free` is set, it
/// came from `malloc` and is not used afterwards.
pub(crate) unsafe fn destroy(params: *mut blosc2_stdio_mmap) -> Result<()> {
    // SAFETY: by the contract an initialised struct that no other code uses, so that its mapping, if any, is that of
    // `open`.
    let result = unsafe { unmap_and_close(&mut *params) };
    // SAFETY: by the contract an initialised struct that no other code uses.
    if unsafe { (*params).needs_free.get() } {
        // SAFETY: `needs_free`: by the contract from `malloc`, and not used afterwards.
        unsafe { libc::free(params.cast()) };
    }
    result
}

/// Flushes the mapping to the file, unmaps and closes it.
///
/// # Safety
/// The fields are those of a mapping that [`open`] has made, or `addr` and `urlpath` are NULL. No other code uses the
/// mapping or its file.
unsafe fn unmap_and_close(params: &mut blosc2_stdio_mmap) -> Result<()> {
    let mut failed = false;
    let mapped = !params.addr.is_null();
    if mapped {
        let map = map_of(params);
        FILE_BACKED_LENS.write().remove(&map.addr.addr());
        // SAFETY: a mapping that this module made, which no other code uses any more, and its file, which is closed once.
        unsafe {
            if kind(params) == MapKind::Write {
                failed |= os::flush(map, params.file_size).is_err();
            }
            failed |= os::unmap(map).is_err();
            failed |= libc::fclose(params.file) != 0;
        }
    }
    // SAFETY: NULL or the copy of `open`.
    unsafe { libc::free(params.urlpath.cast()) };
    params.addr = null_mut();
    params.file = null_mut();
    params.urlpath = null_mut();
    match (mapped, failed) {
        (false, _) => Err(err!(Failure, "no file was mapped")),
        (true, true) => Err(err!(Failure, "cannot flush, unmap or close the mapped file")),
        (true, false) => Ok(()),
    }
}

/// Returns the first and the end offset of `len` bytes at `position`; `None` if they exceed the limits of `i64` or
/// `usize`.
fn checked_range(position: u64, len: u64) -> Option<(usize, usize)> {
    let end = position.checked_add(len).filter(|&end| i64::try_from(end).is_ok())?;
    Some((usize::try_from(position).ok()?, usize::try_from(end).ok()?))
}

fn kind(params: &blosc2_stdio_mmap) -> MapKind {
    match params.is_memory_only.get() {
        true => MapKind::Private,
        false if params.access_flags == os::map_flags(MapKind::Write).0 => MapKind::Write,
        false => MapKind::Read,
    }
}

fn is_writable(params: &blosc2_stdio_mmap) -> bool {
    !params.addr.is_null() && kind(params) != MapKind::Read
}

/// Returns the mapping of a struct.
fn map_of(params: &blosc2_stdio_mmap) -> Map {
    let addr = params.addr.cast::<u8>();
    let file_backed_len = match kind(params) {
        MapKind::Private => FILE_BACKED_LENS.read().get(&addr.addr()).copied().unwrap_or(0),
        _ => 0,
    };
    Map { addr, len: params.mapping_size, file_backed_len, handle: params.map_handle() }
}

/// Makes `map` the mapping of a struct.
fn store_map(params: &mut blosc2_stdio_mmap, map: Map) {
    if kind(params) == MapKind::Private {
        let mut lens = FILE_BACKED_LENS.write();
        lens.remove(&params.addr.addr());
        lens.insert(map.addr.addr(), map.file_backed_len);
    }
    params.addr = map.addr.cast();
    params.mapping_size = map.len;
    params.set_map_handle(map.handle);
}

/// Sets the length of the file, in mode `c` of its private copy, to `len` bytes, and grows the mapping if it is
/// shorter. Bytes from the old end up to `zeros_until`, at most `len`, become 0.
///
/// # Safety
/// The fields are those of a writable mapping that [`open`] has made. No other code uses the mapping: it may move.
unsafe fn set_length(params: &mut blosc2_stdio_mmap, len: usize, zeros_until: usize) -> io::Result<()> {
    let mut map = map_of(params);
    if kind(params) == MapKind::Write {
        // SAFETY: guaranteed by the caller.
        let resized = unsafe { os::resize_shared(&mut map, params.file, len) };
        store_map(params, map);
        resized?;
    } else {
        if len > map.len {
            // SAFETY: guaranteed by the caller.
            unsafe { os::grow_private(&mut map, params.file_size, len.checked_mul(2).unwrap_or(len)) }?;
            store_map(params, map);
        }
        let zeros_until = zeros_until.min(len);
        if zeros_until > params.file_size {
            // The mapping may contain old bytes there, which an earlier call cut off.
            // SAFETY: within the mapping, which reaches up to `len`.
            unsafe { map.addr.add(params.file_size).write_bytes(0, zeros_until - params.file_size) };
        }
    }
    params.file_size = len;
    Ok(())
}
