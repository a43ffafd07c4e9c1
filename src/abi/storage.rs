//! Where a super-chunk lives, and the I/O back-ends (`abi.md` 3.3-3.5, 3.12, 3.13).

use std::ffi::{c_char, c_int, c_void};
use std::mem::size_of;

use super::{
    CBool, blosc2_close_cb, blosc2_cparams, blosc2_destroy_cb, blosc2_dparams, blosc2_open_cb,
    blosc2_read_cb, blosc2_size_cb, blosc2_truncate_cb, blosc2_write_cb,
};

/// How a super-chunk is stored; filled by the caller. The library copies the struct and what it points at, except
/// for the `params` of `io` (`abi.md` 3.3).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_storage {
    /// True: one frame; false: separate chunks, in memory or, with a path, in a directory.
    pub contiguous: CBool,
    /// Path of the file or directory; NULL = in memory. A leading `file:///` is cut off.
    pub urlpath: *mut c_char,
    /// Compression parameters; NULL = the defaults.
    pub cparams: *mut blosc2_cparams,
    /// Decompression parameters; NULL = the defaults.
    pub dparams: *mut blosc2_dparams,
    /// I/O back-end; NULL = the default one.
    pub io: *mut blosc2_io,
}
const _: () = assert!(size_of::<blosc2_storage>() == 40);

/// An I/O back-end and its parameters; filled by the caller (`abi.md` 3.4).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_io {
    /// Id of the back-end.
    pub id: u8,
    /// Its name, as information; may be NULL.
    pub name: *const c_char,
    /// Handed to the back-end's `open` and `destroy`; has to outlive every super-chunk that uses it.
    pub params: *mut c_void,
}
const _: () = assert!(size_of::<blosc2_io>() == 24);

/// The functions of an I/O back-end; filled by the caller, copied at registration (`abi.md` 3.5).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_io_cb {
    /// Id, from 160 for a program's own.
    pub id: u8,
    /// Name; not copied, so it has to stay valid.
    pub name: *mut c_char,
    /// True: `read` fills the buffer at `*ptr`; false: it points `*ptr` at memory of the back-end.
    pub is_allocation_necessary: CBool,
    /// Opens a stream.
    pub open: blosc2_open_cb,
    /// Closes a stream.
    pub close: blosc2_close_cb,
    /// Size of a stream.
    pub size: blosc2_size_cb,
    /// Writes to a stream.
    pub write: blosc2_write_cb,
    /// Reads from a stream.
    pub read: blosc2_read_cb,
    /// Truncates a stream.
    pub truncate: blosc2_truncate_cb,
    /// Releases the parameters.
    pub destroy: blosc2_destroy_cb,
}
const _: () = assert!(size_of::<blosc2_io_cb>() == 80);

/// A stream of the default I/O back-end (`abi.md` 3.12).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_stdio_file {
    /// The open file.
    pub file: *mut libc::FILE,
}
const _: () = assert!(size_of::<blosc2_stdio_file>() == 8);

/// Parameters of the default I/O back-end (`abi.md` 3.12).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_stdio_params {
    /// True: take the inter-process lock of the file.
    pub locking: CBool,
}
const _: () = assert!(size_of::<blosc2_stdio_params>() == 1);

/// Parameters and state of the memory-mapping back-end; the caller fills the first three fields of a copy of
/// `BLOSC2_STDIO_MMAP_DEFAULTS`, the library the rest (`abi.md` 3.13).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_stdio_mmap {
    /// `r`, `r+`, `w+`, or `c` (copy on write). The library stores NULL here once the file is mapped.
    pub mode: *const c_char,
    /// Bytes to reserve for a mapping that may grow.
    pub initial_mapping_size: usize,
    /// True: the library calls `free` on this struct when it is done with it.
    pub needs_free: CBool,
    /// Address of the mapping; NULL = not mapped. Internal.
    pub addr: *mut c_char,
    /// Copy of the path. Internal.
    pub urlpath: *mut c_char,
    /// Size of the file in bytes. Internal.
    pub file_size: usize,
    /// Size of the mapping in bytes, at least that of the file. Internal.
    pub mapping_size: usize,
    /// True: writes stay in memory (mode `c`). Internal.
    pub is_memory_only: CBool,
    /// The open file. Internal.
    pub file: *mut libc::FILE,
    /// Its descriptor. Internal.
    pub fd: c_int,
    /// Access bits of the mapping. Internal.
    pub access_flags: i64,
    /// Kind of the mapping. Internal.
    pub map_flags: i64,
    /// Handle of the mapping. Internal.
    #[cfg(windows)]
    pub mmap_handle: HANDLE,
}
#[cfg(not(windows))]
const _: () = assert!(size_of::<blosc2_stdio_mmap>() == 96);

/// A Windows handle.
#[cfg(windows)]
pub type HANDLE = *mut c_void;
