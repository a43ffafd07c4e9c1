//! Storage parameters of super-chunks, and the I/O back-ends (`abi.md` 3.3-3.5, 3.12, 3.13).

use crate::os::MapHandle;
use std::ffi::{c_char, c_int, c_void};
use std::mem::size_of;

use super::size::size_on_target;
use super::{
    CBool, blosc2_close_cb, blosc2_cparams, blosc2_destroy_cb, blosc2_dparams, blosc2_open_cb,
    blosc2_read_cb, blosc2_size_cb, blosc2_truncate_cb, blosc2_write_cb,
};

/// Where and how a super-chunk is stored. The caller sets the fields. The library copies the struct and the memory
/// that it points at, except for the `params` of `io` (`abi.md` 3.3).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_storage {
    /// True: one contiguous frame. False: separate chunks, in memory or, if `urlpath` is not NULL, in a directory.
    pub contiguous: CBool,
    /// Path of the file or directory; NULL = in memory. A leading `file:///` is removed.
    pub urlpath: *mut c_char,
    /// Compression parameters; NULL = the defaults.
    pub cparams: *mut blosc2_cparams,
    /// Decompression parameters; NULL = the defaults.
    pub dparams: *mut blosc2_dparams,
    /// I/O back-end; NULL = the default one, for plain files.
    pub io: *mut blosc2_io,
}
const _: () = assert!(size_of::<blosc2_storage>() == size_on_target(40, 20, 20));

/// An I/O back-end and its parameters. The caller sets the fields (`abi.md` 3.4).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_io {
    /// Id of the back-end, `BLOSC2_IO_FILESYSTEM` and so on.
    pub id: u8,
    /// Name of the back-end; informative, not read by the library. May be NULL.
    pub name: *const c_char,
    /// Passed to the functions `open` and `destroy` of the back-end; must outlive every super-chunk that uses it.
    pub params: *mut c_void,
}
const _: () = assert!(size_of::<blosc2_io>() == size_on_target(24, 12, 12));

/// The functions of an I/O back-end. The caller sets the fields; registration copies the struct (`abi.md` 3.5).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_io_cb {
    /// Id of the back-end; programs use 160 to 255.
    pub id: u8,
    /// Name of the back-end; copied at registration. May be NULL or uninitialised.
    pub name: *mut c_char,
    /// True: `read` fills the buffer at `*ptr`. False: `read` sets `*ptr` to the address of the bytes, in memory
    /// of the back-end.
    pub is_allocation_necessary: CBool,
    /// Opens a file.
    pub open: blosc2_open_cb,
    /// Closes a stream.
    pub close: blosc2_close_cb,
    /// Returns the size of a file.
    pub size: blosc2_size_cb,
    /// Writes to a file.
    pub write: blosc2_write_cb,
    /// Reads from a file.
    pub read: blosc2_read_cb,
    /// Sets the length of a file.
    pub truncate: blosc2_truncate_cb,
    /// Releases the parameters of the back-end.
    pub destroy: blosc2_destroy_cb,
}
const _: () = assert!(size_of::<blosc2_io_cb>() == size_on_target(80, 40, 40));

/// A stream of the plain-file back-end (`abi.md` 3.12).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_stdio_file {
    /// The open file.
    pub file: *mut libc::FILE,
}
const _: () = assert!(size_of::<blosc2_stdio_file>() == size_on_target(8, 4, 4));

/// Parameters of the plain-file back-end (`abi.md` 3.12).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_stdio_params {
    /// True: use the inter-process lock of the file.
    pub locking: CBool,
}
const _: () = assert!(size_of::<blosc2_stdio_params>() == 1);

/// Parameters and state of the memory-mapping back-end. The caller sets the first three fields in a copy of
/// `BLOSC2_STDIO_MMAP_DEFAULTS`; the library sets the others (`abi.md` 3.13).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_stdio_mmap {
    /// Mode: `r` (read-only), `r+` (read and write), `w+` (create or replace) or `c` (copy on write: changes stay
    /// in memory). The library sets it to NULL when the file has been mapped.
    pub mode: *const c_char,
    /// Number of bytes to reserve for a mapping that can grow (modes `r+`, `w+` and `c`).
    pub initial_mapping_size: usize,
    /// True: the library calls `free()` on this struct when the back-end is destroyed.
    pub needs_free: CBool,
    /// Address of the mapping; NULL = not mapped. Internal.
    pub addr: *mut c_char,
    /// Copy of the path. Internal.
    pub urlpath: *mut c_char,
    /// Size of the file in bytes. Internal.
    pub file_size: usize,
    /// Size of the mapping in bytes, at least `file_size`. Internal.
    pub mapping_size: usize,
    /// True if changes are not written to the file (mode `c`). Internal.
    pub is_memory_only: CBool,
    /// The open file. Internal.
    pub file: *mut libc::FILE,
    /// The descriptor of `file`. Internal.
    pub fd: c_int,
    /// Protection flags of the mapping (`PROT_*`). Internal.
    pub access_flags: i64,
    /// Flags of the mapping (`MAP_*`). Internal.
    pub map_flags: i64,
    /// The handle of the mapping. Internal.
    #[cfg(windows)]
    pub mmap_handle: HANDLE,
}
const _: () = assert!(size_of::<blosc2_stdio_mmap>() == size_on_target(96, 56, 56) + size_of::<MapHandle>());

/// A Windows handle.
#[cfg(windows)]
pub type HANDLE = *mut c_void;

impl blosc2_stdio_mmap {
    /// Returns the handle of the mapping, which is in the struct on Windows only.
    pub(crate) fn map_handle(&self) -> MapHandle {
        #[cfg(windows)]
        return self.mmap_handle;
        #[cfg(not(windows))]
        return crate::os::NO_MAP_HANDLE;
    }

    /// Sets the handle of the mapping.
    pub(crate) fn set_map_handle(&mut self, handle: MapHandle) {
        #[cfg(windows)]
        {
            self.mmap_handle = handle;
        }
        #[cfg(not(windows))]
        let _ = handle;
    }
}
