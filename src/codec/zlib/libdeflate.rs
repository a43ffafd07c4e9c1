//! The calls into the bundled C library libdeflate, and its per-thread states.

use std::ptr::NonNull;

use libdeflate_sys::{
    libdeflate_adler32, libdeflate_alloc_compressor, libdeflate_alloc_decompressor, libdeflate_compressor,
    libdeflate_decompressor, libdeflate_free_compressor, libdeflate_free_decompressor,
    libdeflate_result_LIBDEFLATE_SUCCESS, libdeflate_zlib_compress, libdeflate_zlib_decompress,
};

use crate::err;
use crate::error::Result;

/// What the library calls itself; it can be asked only at compile time of C.
pub(super) const VERSION: &str = "1.26";

/// The library's levels that are in use.
#[derive(Clone, Copy)]
pub(super) enum Level {
    L1 = 1,
    L2 = 2,
    L3 = 3,
    L4 = 4,
    L5 = 5,
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

struct Decompressor(NonNull<libdeflate_decompressor>);

// SAFETY: the decompressor is plain memory owned by this value alone; nothing in it belongs to a thread.
unsafe impl Send for Decompressor {}

impl Drop for Decompressor {
    fn drop(&mut self) {
        // SAFETY: the pointer came from `libdeflate_alloc_decompressor` and is freed once, here.
        unsafe { libdeflate_free_decompressor(self.0.as_ptr()) };
    }
}

/// The compressors (one per level asked for) and the decompressor of one thread.
#[derive(Default)]
pub(super) struct State {
    compressors: [Option<Compressor>; Level::L7 as usize + 1],
    decompressor: Option<Decompressor>,
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
