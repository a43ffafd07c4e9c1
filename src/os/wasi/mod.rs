//! WASI: see the parent module. It has no memory maps, threads, forks, owners of files, processes and shared libraries.

pub(crate) use super::absent::{
    call_in_forked_children, environment_may_have, exchange_names, make_symbols_global, max_open_files,
    rename_without_replacing, single_threaded_flag, start_write_back, symbol_info, sync_directory,
    thread_pointer,
};
pub(super) use super::posix::open_to_sync;
pub(crate) use super::posix::{
    RENAMES_DIRECTORIES_IN_USE, elapsed_nanoseconds, has_identity, len_of_stream_file, monotonic_now,
    open_stream, path_from_c, path_from_vec, read_at, read_stream_at, stream_len, truncate_stream,
    unlock_file, write_stream_at, write_vectored_at,
};

use super::posix::read_clock;
use super::types::{Map, MapKind, Ownership, ThreadEnd};
use std::ffi::{CStr, c_int, c_void};
use std::fs::Metadata;
use std::io::{self, ErrorKind};
use std::process::ChildStdout;
use std::time::Instant;

impl Ownership {
    /// Files have no owners and permissions.
    pub(crate) fn of(_: &Metadata) -> Self {
        Ownership { owner: (0, 0), mode: 0 }
    }
}

/// Returns the time of the clock that stamps files, in seconds and nanoseconds.
pub(crate) fn file_clock_now() -> (i64, i64) {
    let time = read_clock(libc::CLOCK_REALTIME);
    (time.tv_sec, time.tv_nsec.into())
}

/// Returns the protection and the flags of a mapping, for the C struct.
pub(crate) fn map_flags(kind: MapKind) -> (i64, i64) {
    (kind as i64, kind as i64)
}

/// WASI cannot map files.
///
/// # Errors
/// `Unsupported`.
///
/// # Safety
/// No requirements; `unsafe` for the same signature as on other systems.
pub(crate) unsafe fn map_stream(_: *mut libc::FILE, _: usize, _: usize, _: MapKind) -> io::Result<Map> {
    Err(ErrorKind::Unsupported.into())
}

/// See [`map_stream`]: there are no mappings.
///
/// # Safety
/// No requirements.
pub(crate) unsafe fn resize_shared(_: &mut Map, _: *mut libc::FILE, _: usize) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// See [`map_stream`]: there are no mappings.
///
/// # Safety
/// No requirements.
pub(crate) unsafe fn grow_private(_: &mut Map, _: usize, _: usize) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// See [`map_stream`]: there are no mappings.
///
/// # Safety
/// No requirements.
pub(crate) unsafe fn flush(_: Map, _: usize) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// See [`map_stream`]: there are no mappings.
///
/// # Safety
/// No requirements.
pub(crate) unsafe fn unmap(_: Map) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// The length of a page of the linear memory, in bytes.
const PAGE_LEN: usize = 64 << 10;

/// Tests whether bytes can be read: all of the linear memory can.
pub(crate) struct MemoryProbe;

impl MemoryProbe {
    pub(crate) fn open() -> io::Result<MemoryProbe> {
        Ok(MemoryProbe)
    }

    /// Returns whether the byte at `address`, which may be any address, can be read.
    pub(crate) fn can_read(&self, address: *const u8) -> bool {
        address.addr() / PAGE_LEN < core::arch::wasm32::memory_size(0)
    }
}

/// Memory before addresses that cannot be accessed, for tests: the end of the linear memory.
#[cfg(test)]
pub(crate) struct GuardedPages;

#[cfg(test)]
impl GuardedPages {
    /// Adds `len` bytes, rounded up to whole pages, to the linear memory.
    pub(crate) fn new(len: usize) -> GuardedPages {
        assert_ne!(core::arch::wasm32::memory_grow(0, len.div_ceil(PAGE_LEN)), usize::MAX);
        GuardedPages
    }

    /// Returns the address behind the last byte.
    pub(crate) fn guard(&self) -> *mut u8 {
        std::ptr::without_provenance_mut(core::arch::wasm32::memory_size(0) * PAGE_LEN)
    }
}

/// A shared library: WASI has none.
pub(crate) enum OsLibrary {}

impl OsLibrary {
    /// WASI cannot load a library.
    ///
    /// # Errors
    /// Always.
    ///
    /// # Safety
    /// No requirements; `unsafe` for the same signature as on other systems.
    pub(crate) unsafe fn open(_: &CStr) -> Result<OsLibrary, String> {
        Err("this system has no shared libraries".to_owned())
    }

    /// Returns the address of a symbol.
    ///
    /// # Errors
    /// No value of this type exists.
    pub(crate) fn symbol(&self, _: &CStr) -> Result<*mut c_void, String> {
        match *self {}
    }
}

/// Returns true: the only thread ends with the process, whose memory is freed.
pub(crate) fn call_at_thread_end<H: ThreadEnd>() -> bool {
    let _: fn() = H::run;
    true
}

/// Returns the address of `errno` of this thread, valid for the lifetime of the thread.
pub(crate) fn errno_location() -> *mut c_int {
    // SAFETY: no arguments; returns a valid pointer.
    unsafe { libc::__errno_location() }
}

/// Returns false: there are no processes.
pub(crate) fn wait_for_output(_: &ChildStdout, _: Instant) -> bool {
    false
}

/// Returns 1: processes have no numbers, and `std::process::id` panics.
pub(crate) fn process_id() -> u32 {
    1
}
