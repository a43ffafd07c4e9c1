//! Calls on chunks and slices (schunk.md 10-14).

use std::ffi::c_void;

use blosc2::abi::CBool;

use super::{DEST_FILL_BYTE, LibrarySide, UNTOUCHED, copy_to_malloc};
use crate::api::{Api, Schunk};
use crate::support::byte_messages::DebugBytes;

impl LibrarySide {
    pub fn append(&mut self, chunk: &[u8], copy: bool) -> i64 {
        self.call_with_block(chunk, copy, |api, schunk, block| {
            // SAFETY: a live super-chunk and a whole chunk in a block of malloc.
            unsafe { (api.blosc2_schunk_append_chunk)(schunk, block, copy.into()) }
        })
    }

    pub fn insert(&mut self, nchunk: i64, chunk: &[u8], copy: bool) -> i64 {
        self.call_with_block(chunk, copy, |api, schunk, block| {
            // SAFETY: as in `append`.
            unsafe { (api.blosc2_schunk_insert_chunk)(schunk, nchunk, block, copy.into()) }
        })
    }

    pub fn update(&mut self, nchunk: i64, chunk: &[u8], copy: bool) -> i64 {
        self.call_with_block(chunk, copy, |api, schunk, block| {
            // SAFETY: as in `append`.
            unsafe { (api.blosc2_schunk_update_chunk)(schunk, nchunk, block, copy.into()) }
        })
    }

    /// Passes a block from malloc, of which the library takes ownership if the call succeeds without `copy`.
    fn call_with_block(
        &mut self,
        chunk: &[u8],
        copy: bool,
        call: impl FnOnce(&Api, Schunk, *mut u8) -> i64,
    ) -> i64 {
        self.transfer_frame();
        let block = copy_to_malloc(chunk);
        let rc = call(self.api, self.schunk, block);
        if copy {
            // SAFETY: the block still belongs to the test and is unchanged.
            unsafe {
                assert!(
                    std::slice::from_raw_parts(block, chunk.len()) == chunk,
                    "a chunk to copy was written to"
                );
                libc::free(block.cast());
            }
        }
        rc
    }

    pub fn delete(&mut self, nchunk: i64) -> i64 {
        self.transfer_frame();
        // SAFETY: a live super-chunk.
        unsafe { (self.api.blosc2_schunk_delete_chunk)(self.schunk, nchunk) }
    }

    pub fn append_buffer(&mut self, data: &[u8]) -> i64 {
        self.transfer_frame();
        // SAFETY: a live super-chunk and a slice with its length.
        unsafe {
            (self.api.blosc2_schunk_append_buffer)(self.schunk, data.as_ptr().cast(), data.len() as i32)
        }
    }

    pub fn reorder(&mut self, order: &[i64]) -> i32 {
        self.transfer_frame();
        let mut order = order.to_vec();
        order.push(0);
        // SAFETY: a live super-chunk and at least as many entries as it has chunks (ensured by the caller).
        unsafe { (self.api.blosc2_schunk_reorder_offsets)(self.schunk, order.as_mut_ptr()) }
    }

    pub fn fill_special(&mut self, nitems: i64, kind: i32, chunksize: i32) -> i64 {
        self.transfer_frame();
        // SAFETY: a live super-chunk.
        unsafe { (self.api.blosc2_schunk_fill_special)(self.schunk, nitems, kind, chunksize) }
    }

    /// Returns return code and destination of a read into `destsize` bytes, with a canary behind it.
    fn read_into(&self, destsize: usize, call: impl FnOnce(&Api, *mut c_void) -> i32) -> (i32, DebugBytes) {
        let mut dest = vec![DEST_FILL_BYTE; destsize];
        dest.extend([0xA5; 64]);
        let rc = call(self.api, dest.as_mut_ptr().cast());
        let name = self.api.library.name;
        assert!(dest[destsize..].iter().all(|&byte| byte == 0xA5), "{name}: a write behind a destination");
        dest.truncate(destsize);
        // The contents of the destination after a failed read are not compared.
        (rc, DebugBytes(if rc < 0 { Vec::new() } else { dest }))
    }

    pub fn decompress(&self, schunk: Schunk, nchunk: i64, destsize: usize) -> (i32, DebugBytes) {
        self.read_into(destsize, |api, dest| {
            // SAFETY: a live super-chunk and a destination of its stated size.
            unsafe { (api.blosc2_schunk_decompress_chunk)(schunk, nchunk, dest, destsize as i32) }
        })
    }

    pub fn get_slice(&self, start: i64, stop: i64, destsize: usize) -> (i32, DebugBytes) {
        self.read_into(destsize, |api, dest| {
            // SAFETY: a live super-chunk and enough memory for the items (ensured by the caller).
            unsafe { (api.blosc2_schunk_get_slice_buffer)(self.schunk, start, stop, dest) }
        })
    }

    pub fn get_sparse(&self, coords: &[i64], destsize: usize) -> (i32, DebugBytes) {
        self.read_into(destsize, |api, dest| {
            // SAFETY: as in `get_slice`.
            unsafe {
                (api.blosc2_schunk_get_sparse_buffer)(self.schunk, coords.len() as i64, coords.as_ptr(), dest)
            }
        })
    }

    pub fn set_slice(&mut self, start: i64, stop: i64, data: &[u8]) -> i32 {
        self.transfer_frame();
        let mut data = data.to_vec();
        // SAFETY: a live super-chunk and the bytes of the items (ensured by the caller).
        unsafe {
            (self.api.blosc2_schunk_set_slice_buffer)(self.schunk, start, stop, data.as_mut_ptr().cast())
        }
    }

    /// Returns whether the library may leave outputs as they were when a function fails (abi.md 14).
    pub fn leaves_outputs(&self) -> bool {
        self.api.library.is_reference()
    }

    /// Returns return code, bytes, and whether the caller frees them.
    pub fn get_chunk(&self, nchunk: i64) -> (i32, DebugBytes, bool) {
        // SAFETY: a function of this library.
        self.fetch(|schunk, chunk, free| unsafe {
            (self.api.blosc2_schunk_get_chunk)(schunk, nchunk, chunk, free)
        })
    }

    fn fetch(&self, call: impl FnOnce(Schunk, *mut *mut u8, *mut CBool) -> i32) -> (i32, DebugBytes, bool) {
        let (mut chunk, mut needs_free) = (UNTOUCHED as *mut u8, CBool(7));
        let rc = call(self.schunk, &mut chunk, &mut needs_free);
        if rc < 0 {
            let untouched = chunk as usize == UNTOUCHED && needs_free.0 == 7;
            let cleared = chunk.is_null() && needs_free.0 == 0;
            assert!(cleared || untouched && self.leaves_outputs(), "outputs of a failed get");
            return (rc, DebugBytes(Vec::new()), false);
        }
        // SAFETY: the library returned `rc` bytes at `chunk`, which the caller frees if the library says so.
        unsafe {
            let bytes = std::slice::from_raw_parts(chunk, rc as usize).to_vec();
            if needs_free.get() {
                libc::free(chunk.cast());
            }
            (rc, DebugBytes(bytes), needs_free.get())
        }
    }

    /// Returns a lazy chunk, and the result of `decode`, which runs while the chunk is valid.
    pub fn get_lazychunk<T>(
        &self,
        nchunk: i64,
        decode: impl FnOnce(&LibrarySide, &[u8]) -> T,
    ) -> (i32, DebugBytes, bool, Option<T>) {
        let mut decoded = None;
        let (rc, bytes, free) = self.fetch(|schunk, chunk, free| {
            // SAFETY: a live super-chunk and valid out-pointers.
            unsafe { (self.api.blosc2_schunk_get_lazychunk)(schunk, nchunk, chunk, free) }
        });
        if rc >= 0 {
            decoded = Some(decode(self, &bytes.0));
        }
        (rc, bytes, free, decoded)
    }

    /// Decodes with the context of the super-chunk.
    pub fn decode(&self, chunk: &[u8], destsize: usize) -> (i32, DebugBytes) {
        self.read_into(destsize, |api, dest| {
            // SAFETY: the live context of a live super-chunk, and slices with their lengths.
            unsafe {
                let (src, len) = (chunk.as_ptr().cast(), chunk.len() as i32);
                (api.library.blosc2_decompress_ctx)(self.raw().dctx, src, len, dest, destsize as i32)
            }
        })
    }

    pub fn decode_bytes(&self, chunk: &[u8], start: i32, len: i32) -> (i32, DebugBytes) {
        self.read_into(len as usize, |api, dest| {
            // SAFETY: as in `decode`.
            unsafe {
                let (src, size) = (chunk.as_ptr().cast(), chunk.len() as i32);
                (api.library.blosc2_getitem_bytes_ctx)(self.raw().dctx, src, size, start, len, dest, len)
            }
        })
    }

    pub fn get_vlblock(&self, nchunk: i64, nblock: i32) -> (i32, DebugBytes) {
        let (mut dest, mut size) = (UNTOUCHED as *mut u8, -77);
        // SAFETY: a live super-chunk and valid out-pointers; on success there are `size` bytes from malloc.
        unsafe {
            let rc = (self.api.blosc2_schunk_get_vlblock)(self.schunk, nchunk, nblock, &mut dest, &mut size);
            if rc < 0 {
                let untouched = dest as usize == UNTOUCHED && size == -77;
                let cleared = dest.is_null() && size == 0;
                assert!(cleared || untouched && self.leaves_outputs(), "outputs of a failed get_vlblock");
                return (rc, DebugBytes(Vec::new()));
            }
            assert_eq!(rc, size);
            let bytes = std::slice::from_raw_parts(dest, size as usize).to_vec();
            libc::free(dest.cast());
            (rc, DebugBytes(bytes))
        }
    }
}
