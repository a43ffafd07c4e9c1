//! Place and parameters of a new super-chunk.

use crate::abi::{
    BLOSC2_CPARAMS_DEFAULTS, BLOSC2_DPARAMS_DEFAULTS, BLOSC2_IO_DEFAULTS, blosc2_cparams, blosc2_dparams,
    blosc2_io,
};
use crate::error::{Result, ensure};
use std::ffi::CStr;

/// Place and parameters of a new super-chunk, borrowed from the caller.
#[derive(Clone, Copy)]
pub(crate) struct Storage<'a> {
    /// Whether the super-chunk is one frame; otherwise it has separate chunks.
    pub contiguous: bool,
    /// The path; `None` for a super-chunk in memory.
    pub urlpath: Option<&'a CStr>,
    /// Compression parameters.
    pub cparams: &'a blosc2_cparams,
    /// Decompression parameters.
    pub dparams: &'a blosc2_dparams,
    /// The I/O back-end.
    pub io: &'a blosc2_io,
}

impl Default for Storage<'_> {
    fn default() -> Self {
        static CPARAMS: SyncDefaults<blosc2_cparams> = SyncDefaults(BLOSC2_CPARAMS_DEFAULTS);
        static DPARAMS: SyncDefaults<blosc2_dparams> = SyncDefaults(BLOSC2_DPARAMS_DEFAULTS);
        static IO: SyncDefaults<blosc2_io> = SyncDefaults(BLOSC2_IO_DEFAULTS);
        Storage { contiguous: false, urlpath: None, cparams: &CPARAMS.0, dparams: &DPARAMS.0, io: &IO.0 }
    }
}

/// A struct of defaults, whose pointers are NULL or point at literals.
struct SyncDefaults<T>(T);

// SAFETY: no code writes through the pointers of the struct.
unsafe impl<T> Sync for SyncDefaults<T> {}

/// Returns a copy of a plain struct in a `malloc` block.
pub(crate) fn malloc_value<T>(value: T) -> Result<*mut T> {
    // SAFETY: `malloc` accepts any length.
    let block: *mut T = unsafe { libc::malloc(size_of::<T>()) }.cast();
    ensure!(!block.is_null(), MemoryAlloc, "a struct of {} bytes", size_of::<T>());
    // SAFETY: a fresh block of that size, aligned for all types.
    unsafe { block.write(value) };
    Ok(block)
}
