//! Calls on metalayers, fixed and of variable length (schunk.md 17, 18).

use std::ffi::{CStr, CString, c_char};
use std::ptr;

use blosc2::abi::blosc2_metalayer;

use super::{LibrarySide, UNTOUCHED};
use crate::api::Schunk;
use crate::support::byte_messages::DebugBytes;
use crate::support::calls::Params;

impl LibrarySide {
    pub fn meta_add(&mut self, name: &CStr, content: &[u8]) -> i32 {
        self.transfer_frame();
        let mut content = content.to_vec();
        // SAFETY: a live super-chunk, a name and a slice with its length.
        unsafe {
            let len = content.len() as i32;
            (self.api.blosc2_meta_add)(self.schunk, name.as_ptr(), content.as_mut_ptr(), len)
        }
    }

    pub fn meta_update(&mut self, name: &CStr, content: &[u8]) -> i32 {
        self.transfer_frame();
        let mut content = content.to_vec();
        // SAFETY: as in `meta_add`.
        unsafe {
            let len = content.len() as i32;
            (self.api.blosc2_meta_update)(self.schunk, name.as_ptr(), content.as_mut_ptr(), len)
        }
    }

    pub fn vlmeta_add_or_update(
        &mut self,
        update: bool,
        name: &CStr,
        content: &[u8],
        params: Option<&Params>,
    ) -> i32 {
        self.transfer_frame();
        let mut content = content.to_vec();
        let mut cparams = params.map(Params::cparams);
        let cparams = cparams.as_mut().map_or(ptr::null_mut(), ptr::from_mut);
        // SAFETY: as in `meta_add`; parameters or NULL.
        unsafe {
            let (data, len) = (content.as_mut_ptr(), content.len() as i32);
            if update {
                (self.api.blosc2_vlmeta_update)(self.schunk, name.as_ptr(), data, len, cparams)
            } else {
                (self.api.blosc2_vlmeta_add)(self.schunk, name.as_ptr(), data, len, cparams)
            }
        }
    }

    pub fn vlmeta_delete(&mut self, name: &CStr) -> i32 {
        self.transfer_frame();
        // SAFETY: a live super-chunk and a name.
        unsafe { (self.api.blosc2_vlmeta_delete)(self.schunk, name.as_ptr()) }
    }

    pub fn vlmeta_exists(&self, name: &CStr) -> i32 {
        // SAFETY: a live super-chunk and a name.
        unsafe { (self.api.blosc2_vlmeta_exists)(self.schunk, name.as_ptr()) }
    }

    pub fn vlmeta_get(&self, schunk: Schunk, name: &CStr) -> (i32, DebugBytes) {
        let (mut content, mut len) = (UNTOUCHED as *mut u8, -77);
        // SAFETY: a live super-chunk and valid out-pointers; on success there are `len` bytes from malloc, or NULL.
        unsafe {
            let rc = (self.api.blosc2_vlmeta_get)(schunk, name.as_ptr(), &mut content, &mut len);
            if rc < 0 {
                let untouched = content as usize == UNTOUCHED && len == -77;
                let cleared = content.is_null() && len == 0;
                assert!(cleared || untouched && self.leaves_outputs(), "outputs of a failed vlmeta_get");
                return (rc, DebugBytes(Vec::new()));
            }
            let bytes = if len == 0 {
                assert!(content.is_null(), "content of an empty metalayer must be NULL");
                Vec::new()
            } else {
                std::slice::from_raw_parts(content, len as usize).to_vec()
            };
            libc::free(content.cast());
            (rc, DebugBytes(bytes))
        }
    }

    /// Returns count and names from `blosc2_vlmeta_get_names`.
    pub fn vlmeta_names(&self, schunk: Schunk) -> (i32, Vec<CString>) {
        // SAFETY: a live super-chunk, and an array with space for every entry; the names are C strings of the
        // super-chunk.
        unsafe {
            let mut names = vec![ptr::null_mut::<c_char>(); (*schunk).nvlmetalayers.max(0) as usize + 1];
            let count = (self.api.blosc2_vlmeta_get_names)(schunk, names.as_mut_ptr());
            names.truncate(count.max(0) as usize);
            (count, names.into_iter().map(|name| CStr::from_ptr(name).to_owned()).collect())
        }
    }

    /// Returns the metalayers as the inline functions of the headers read them (schunk.md 2).
    pub fn metalayers(&self, schunk: Schunk) -> Vec<(CString, DebugBytes)> {
        // SAFETY: a live super-chunk, whose first `nmetalayers` entries are valid.
        unsafe {
            let schunk = &*schunk;
            schunk.metalayers[..schunk.nmetalayers as usize].iter().map(|layer| layer_of(*layer)).collect()
        }
    }

    /// Returns the variable-length metalayers with their compressed contents.
    pub fn raw_vlmetalayers(&self, schunk: Schunk) -> Vec<(CString, DebugBytes)> {
        // SAFETY: a live super-chunk, whose first `nvlmetalayers` entries are valid.
        unsafe {
            let schunk = &*schunk;
            schunk.vlmetalayers[..schunk.nvlmetalayers as usize]
                .iter()
                .map(|layer| layer_of(*layer))
                .collect()
        }
    }
}

unsafe fn layer_of(layer: *const blosc2_metalayer) -> (CString, DebugBytes) {
    // SAFETY: the caller passes a valid metalayer: a C string, and `content_len` bytes.
    unsafe {
        let layer = &*layer;
        let content = match layer.content_len {
            0 => Vec::new(),
            len => std::slice::from_raw_parts(layer.content, len as usize).to_vec(),
        };
        (CStr::from_ptr(layer.name).to_owned(), DebugBytes(content))
    }
}
