//! The C functions of the library that is linked into the benchmark: its tunables are those that the benchmark sets.
//! (`tests/support/library.rs` loads a shared library, which has its own.)

use blosc2::abi::{blosc2_context, blosc2_cparams, blosc2_dparams};

use crate::calls::len32;
use crate::support::exported::{
    blosc2_compress_ctx, blosc2_create_cctx, blosc2_create_dctx, blosc2_decompress_ctx, blosc2_free_ctx,
};

/// A context that is freed when dropped.
pub struct Context(*mut blosc2_context);

impl Context {
    /// # Panics
    /// If the library rejects the parameters.
    pub fn for_compression(cparams: blosc2_cparams) -> Context {
        // SAFETY: a struct by value whose pointers are NULL.
        let raw = unsafe { blosc2_create_cctx(cparams) };
        assert!(!raw.is_null(), "no compression context");
        Context(raw)
    }

    /// # Panics
    /// If the library rejects the parameters.
    pub fn for_decompression(dparams: blosc2_dparams) -> Context {
        // SAFETY: a struct by value whose pointers are NULL.
        let raw = unsafe { blosc2_create_dctx(dparams) };
        assert!(!raw.is_null(), "no decompression context");
        Context(raw)
    }

    /// Compresses `src` into `dest`. Returns the result of the library.
    pub fn compress(&mut self, src: &[u8], dest: &mut [u8]) -> i32 {
        let (len, room) = (len32(src), len32(dest));
        // SAFETY: a live context and two slices with their true lengths.
        unsafe { blosc2_compress_ctx(self.0, src.as_ptr().cast(), len, dest.as_mut_ptr().cast(), room) }
    }

    /// Decompresses `chunk` into `dest`. Returns the result of the library.
    pub fn decompress(&mut self, chunk: &[u8], dest: &mut [u8]) -> i32 {
        let (len, room) = (len32(chunk), len32(dest));
        // SAFETY: a live context and two slices with their true lengths.
        unsafe { blosc2_decompress_ctx(self.0, chunk.as_ptr().cast(), len, dest.as_mut_ptr().cast(), room) }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: a live context, not used again.
        unsafe { blosc2_free_ctx(self.0) };
    }
}
