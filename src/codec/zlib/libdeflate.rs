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

/// The library's level that is in use: about as short as the reference's streams from level 7 on, of text and plain numbers.
const LEVEL: i32 = 7;

struct Compressor(NonNull<libdeflate_compressor>);

// SAFETY: the compressor is plain memory owned by this value alone; nothing in it belongs to a thread.
unsafe impl Send for Compressor {}

impl Drop for Compressor {
    fn drop(&mut self) {
        // SAFETY: the pointer came from `libdeflate_alloc_compressor` and is freed once, here.
        unsafe { libdeflate_free_compressor(self.0.as_ptr()) };
    }
}

/// The compressor of one thread, once it was asked for.
#[derive(Default)]
pub(super) struct State {
    compressor: Option<Compressor>,
}

impl State {
    fn compressor(&mut self) -> Result<NonNull<libdeflate_compressor>> {
        if let Some(compressor) = &self.compressor {
            return Ok(compressor.0);
        }
        // SAFETY: takes a level and returns a compressor or NULL.
        let raw = unsafe { libdeflate_alloc_compressor(LEVEL) };
        let raw = NonNull::new(raw).ok_or_else(|| err!(MemoryAlloc, "no memory for the zlib compressor"))?;
        Ok(self.compressor.insert(Compressor(raw)).0)
    }
}

/// Compresses; 0 if the result does not fit.
pub(super) fn compress(state: &mut State, src: &[u8], dest: &mut [u8]) -> Result<usize> {
    let compressor = state.compressor()?;
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
