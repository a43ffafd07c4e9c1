//! The calls into the bundled C library libdeflate, and its per-thread states.

use std::ptr::NonNull;

use libdeflate_sys::{
    libdeflate_adler32, libdeflate_alloc_compressor, libdeflate_compressor, libdeflate_free_compressor,
    libdeflate_zlib_compress,
};

use crate::err;
use crate::error::Result;

/// What the library calls itself; it can be asked only at compile time of C.
pub(super) const VERSION: &str = "1.26";

/// The library's levels that are in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    L6 = 6,
    L7 = 7,
}

struct Compressor(NonNull<libdeflate_compressor>);

// SAFETY: the compressor is plain memory owned by this value alone; nothing in it belongs to a thread.
unsafe impl Send for Compressor {}

impl Drop for Compressor {
    fn drop(&mut self) {
        // SAFETY: the pointer came from `libdeflate_alloc_compressor` and is freed once, here.
        unsafe { libdeflate_free_compressor(self.0.as_ptr()) };
    }
}

/// The compressors of one thread, one per level asked for.
#[derive(Default)]
pub(super) struct State {
    compressors: [Option<Compressor>; Level::L7 as usize + 1],
}

impl State {
    fn compressor(&mut self, level: Level) -> Result<NonNull<libdeflate_compressor>> {
        let slot = &mut self.compressors[level as usize];
        if let Some(compressor) = slot {
            return Ok(compressor.0);
        }
        // SAFETY: takes a level and returns a compressor or NULL.
        let raw = unsafe { libdeflate_alloc_compressor(level as i32) };
        let raw = NonNull::new(raw).ok_or_else(|| err!(MemoryAlloc, "no memory for the zlib compressor"))?;
        Ok(slot.insert(Compressor(raw)).0)
    }
}

/// Compresses; 0 if the result does not fit.
pub(super) fn compress(state: &mut State, src: &[u8], dest: &mut [u8], level: Level) -> Result<usize> {
    let compressor = state.compressor(level)?;
    // SAFETY: the compressor is valid and used by this thread alone; `src` and `dest` are valid for the
    // lengths given, and the library stays within both.
    Ok(unsafe {
        libdeflate_zlib_compress(
            compressor.as_ptr(),
            src.as_ptr().cast(),
            src.len(),
            dest.as_mut_ptr().cast(),
            dest.len(),
        )
    })
}

/// The Adler-32 of `bytes`.
pub(super) fn adler32(bytes: &[u8]) -> u32 {
    // SAFETY: `bytes` is valid for the length given; the library only reads it.
    unsafe { libdeflate_adler32(1, bytes.as_ptr().cast(), bytes.len()) }
}
