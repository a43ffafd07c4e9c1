//! Zlib streams (`codecs.md` 5): thin safe wrappers round libdeflate.
//!
//! Owns the level map and the per-thread compressors. Never decides which codec runs, and never sees a
//! chunk. A stream is RFC 1950: two header bytes, deflate data, the Adler-32 of the plain bytes.

use std::ffi::c_int;
use std::ptr::NonNull;

use libdeflate_sys::{
    libdeflate_alloc_compressor, libdeflate_alloc_decompressor, libdeflate_compressor,
    libdeflate_decompressor, libdeflate_free_compressor, libdeflate_free_decompressor,
    libdeflate_result_LIBDEFLATE_SUCCESS, libdeflate_zlib_compress, libdeflate_zlib_decompress,
};

use crate::err;
use crate::error::Result;

/// What the library embeds (libdeflate).
pub(super) const VERSION: &str = "1.26";

/// The library's level for each `clevel`. Level 0 of zlib stores, which is larger than its input, so it is never asked.
const LEVELS: [c_int; 10] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

struct Compressor(NonNull<libdeflate_compressor>);

// SAFETY: the compressor is plain memory owned by this value alone; nothing in it belongs to a thread.
unsafe impl Send for Compressor {}

impl Drop for Compressor {
    fn drop(&mut self) {
        // SAFETY: the pointer came from `libdeflate_alloc_compressor` and is freed once, here.
        unsafe { libdeflate_free_compressor(self.0.as_ptr()) };
    }
}

struct Decompressor(NonNull<libdeflate_decompressor>);

// SAFETY: the decompressor is plain memory owned by this value alone; nothing in it belongs to a thread.
unsafe impl Send for Decompressor {}

impl Drop for Decompressor {
    fn drop(&mut self) {
        // SAFETY: the pointer came from `libdeflate_alloc_decompressor` and is freed once, here.
        unsafe { libdeflate_free_decompressor(self.0.as_ptr()) };
    }
}

/// The compressors (one per `clevel` asked for) and the decompressor of one thread.
#[derive(Default)]
pub(super) struct State {
    compressors: [Option<Compressor>; LEVELS.len()],
    decompressor: Option<Decompressor>,
}

impl State {
    fn compressor(&mut self, clevel: usize) -> Result<NonNull<libdeflate_compressor>> {
        let slot = &mut self.compressors[clevel];
        if let Some(compressor) = slot {
            return Ok(compressor.0);
        }
        // SAFETY: takes a level and returns a compressor or NULL.
        let raw = unsafe { libdeflate_alloc_compressor(LEVELS[clevel]) };
        let raw = NonNull::new(raw).ok_or_else(|| err!(MemoryAlloc, "no memory for the zlib compressor"))?;
        Ok(slot.insert(Compressor(raw)).0)
    }

    fn decompressor(&mut self) -> Result<NonNull<libdeflate_decompressor>> {
        if let Some(decompressor) = &self.decompressor {
            return Ok(decompressor.0);
        }
        // SAFETY: takes nothing and returns a decompressor or NULL.
        let raw = unsafe { libdeflate_alloc_decompressor() };
        let raw =
            NonNull::new(raw).ok_or_else(|| err!(MemoryAlloc, "no memory for the zlib decompressor"))?;
        Ok(self.decompressor.insert(Decompressor(raw)).0)
    }
}

/// Compresses; 0 if the result does not fit, and at `clevel` 0.
pub(super) fn compress(state: &mut State, src: &[u8], dest: &mut [u8], clevel: i32) -> Result<usize> {
    let clevel = clevel.clamp(0, 9) as usize;
    if clevel == 0 {
        return Ok(0);
    }
    let compressor = state.compressor(clevel)?;
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

/// Decompresses the zlib stream that `src` begins with; 0 if it is bad or needs more than `dest`.
pub(super) fn decompress(state: &mut State, src: &[u8], dest: &mut [u8]) -> Result<usize> {
    let decompressor = state.decompressor()?;
    let mut written = 0;
    // SAFETY: the decompressor is valid and used by this thread alone; `src` and `dest` are valid for the
    // lengths given, and the library stays within both on any input; `written` is a valid place for the result.
    let result = unsafe {
        libdeflate_zlib_decompress(
            decompressor.as_ptr(),
            src.as_ptr().cast(),
            src.len(),
            dest.as_mut_ptr().cast(),
            dest.len(),
            &mut written,
        )
    };
    Ok(if result == libdeflate_result_LIBDEFLATE_SUCCESS { written } else { 0 })
}
