//! Where and with what parameters a super-chunk is made.

use crate::abi::{
    BLOSC2_CPARAMS_DEFAULTS, BLOSC2_DPARAMS_DEFAULTS, BLOSC2_IO_DEFAULTS, blosc2_cparams, blosc2_dparams,
    blosc2_io,
};
use crate::err;
use crate::error::Result;
use std::ffi::CStr;

/// How a super-chunk is stored, borrowed from the caller.
#[derive(Clone, Copy)]
pub(crate) struct Storage<'a> {
    /// One frame, or separate chunks.
    pub contiguous: bool,
    /// The path; `None` in memory.
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
        static CPARAMS: Shared<blosc2_cparams> = Shared(BLOSC2_CPARAMS_DEFAULTS);
        static DPARAMS: Shared<blosc2_dparams> = Shared(BLOSC2_DPARAMS_DEFAULTS);
        static IO: Shared<blosc2_io> = Shared(BLOSC2_IO_DEFAULTS);
        Storage { contiguous: false, urlpath: None, cparams: &CPARAMS.0, dparams: &DPARAMS.0, io: &IO.0 }
    }
}

/// Defaults, whose pointers are NULL or of literals.
struct Shared<T>(T);

// SAFETY: no code writes through the pointers of the struct.
unsafe impl<T> Sync for Shared<T> {}

/// A copy of a plain struct in a `malloc` block.
pub(crate) fn block_with<T>(value: T) -> Result<*mut T> {
    // SAFETY: any length may be asked for.
    let block: *mut T = unsafe { libc::malloc(size_of::<T>()) }.cast();
    if block.is_null() {
        return Err(err!(MemoryAlloc, "{} bytes", size_of::<T>()));
    }
    // SAFETY: a fresh block of that size, aligned for anything.
    unsafe { block.write(value) };
    Ok(block)
}
