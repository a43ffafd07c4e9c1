//! Calls on the frame, its copies in buffers and files, and its lock (schunk.md 8, 19, 20).

use std::path::Path;
use std::ptr;

use blosc2::abi::CBool;

use super::{LibrarySide, UNTOUCHED, c_path};
use crate::api::Schunk;
use crate::support::byte_messages::DebugBytes;

impl LibrarySide {
    pub fn frame_len(&self, schunk: Schunk) -> i64 {
        // SAFETY: a live super-chunk.
        unsafe { (self.api.blosc2_schunk_frame_len)(schunk) }
    }

    pub fn offsets(&self) -> Option<Vec<i64>> {
        // SAFETY: a live super-chunk; the result is NULL or `nchunks` entries of malloc.
        unsafe {
            let offsets = (self.api.blosc2_frame_get_offsets)(self.schunk);
            if offsets.is_null() {
                return None;
            }
            let list = std::slice::from_raw_parts(offsets, self.raw().nchunks as usize).to_vec();
            libc::free(offsets.cast());
            Some(list)
        }
    }

    pub fn slice_nchunks(&self, start: i64, stop: i64) -> (i64, Vec<i64>) {
        let (mut start, mut stop, mut list) = (start, stop, ptr::null_mut::<i64>());
        // SAFETY: a live super-chunk; the result is NULL or `count` entries of malloc.
        unsafe {
            let count = (self.api.blosc2_get_slice_nchunks)(self.schunk, &mut start, &mut stop, &mut list);
            let numbers =
                if count > 0 { std::slice::from_raw_parts(list, count as usize).to_vec() } else { vec![] };
            libc::free(list.cast());
            (count, numbers)
        }
    }

    /// Returns the frame: an error code, or the length and whether it was allocated for this call.
    pub fn to_buffer(&self) -> (i64, DebugBytes, bool) {
        let (mut frame, mut needs_free) = (UNTOUCHED as *mut u8, CBool(7));
        // SAFETY: a live super-chunk; on success there are `len` bytes, which the caller frees if the library says
        // so.
        unsafe {
            let len = (self.api.blosc2_schunk_to_buffer)(self.schunk, &mut frame, &mut needs_free);
            if len < 0 {
                assert!(frame.is_null() && needs_free.0 == 0, "outputs of a failed to_buffer");
                return (len, DebugBytes(Vec::new()), false);
            }
            let bytes = std::slice::from_raw_parts(frame, len as usize).to_vec();
            if needs_free.get() {
                libc::free(frame.cast());
            }
            (len, DebugBytes(bytes), needs_free.get())
        }
    }

    pub fn to_file(&self, path: &Path) -> i64 {
        // SAFETY: a live super-chunk and a path.
        unsafe { (self.api.blosc2_schunk_to_file)(self.schunk, c_path(path).as_ptr()) }
    }

    pub fn append_file(&self, path: &Path) -> i64 {
        // SAFETY: a live super-chunk and a path.
        unsafe { (self.api.blosc2_schunk_append_file)(self.schunk, c_path(path).as_ptr()) }
    }

    pub fn lock(&self) -> i32 {
        // SAFETY: a live super-chunk.
        unsafe { (self.api.blosc2_schunk_lock)(self.schunk) }
    }

    pub fn unlock(&self) -> i32 {
        // SAFETY: a live super-chunk.
        unsafe { (self.api.blosc2_schunk_unlock)(self.schunk) }
    }

    pub fn refresh(&self, schunk: Schunk) -> i32 {
        // SAFETY: a live super-chunk.
        unsafe { (self.api.blosc2_schunk_refresh)(schunk) }
    }
}
