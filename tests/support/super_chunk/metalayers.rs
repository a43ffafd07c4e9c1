//! Metalayers of a loaded library's super-chunks. `meta_exists` and `meta_get` are inline functions of the C headers,
//! which C programs have compiled in, so they are implemented here over the public struct (schunk.md 17).

use std::ffi::{CStr, CString};
use std::ptr;

use blosc2::abi::blosc2_metalayer;

use super::SuperChunk;
use crate::support::calls::{BytesResult, Params, len32};

/// Converts a metalayer name to a C string.
fn c_name(name: &str) -> CString {
    CString::new(name).expect("a name without NUL")
}

/// Returns the content pointer of a metalayer: NULL for empty content, which C programs may pass.
fn content_ptr(bytes: &[u8]) -> *mut u8 {
    bytes.as_ptr().cast_mut()
}

impl SuperChunk {
    pub fn meta_add(&self, name: &str, bytes: &[u8]) -> i32 {
        let name = c_name(name);
        // SAFETY: a terminated name and a content of its stated length, which is copied.
        unsafe { (self.functions.blosc2_meta_add)(self.raw, name.as_ptr(), content_ptr(bytes), len32(bytes)) }
    }

    pub fn meta_update(&self, name: &str, bytes: &[u8]) -> i32 {
        let name = c_name(name);
        // SAFETY: as in `meta_add`.
        unsafe {
            (self.functions.blosc2_meta_update)(self.raw, name.as_ptr(), content_ptr(bytes), len32(bytes))
        }
    }

    /// Returns the content of a fixed metalayer as the inline function `blosc2_meta_get` reads it.
    pub fn meta_get(&self, name: &str) -> Option<Vec<u8>> {
        self.metalayers().into_iter().find(|(found, _)| found == name.as_bytes()).map(|(_, bytes)| bytes)
    }

    /// Returns name and content of every fixed metalayer.
    pub fn metalayers(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        // SAFETY: the first `nmetalayers` entries are valid.
        (0..usize::from(self.nmetalayers()))
            .map(|i| unsafe { named_content((*self.raw).metalayers[i]) })
            .collect()
    }

    /// Returns name and compressed content of every variable-length metalayer.
    pub fn raw_vlmetalayers(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        let count = usize::try_from(self.nvlmetalayers()).expect("a number of metalayers");
        // SAFETY: the first `nvlmetalayers` entries are valid.
        (0..count).map(|i| unsafe { named_content((*self.raw).vlmetalayers[i]) }).collect()
    }

    pub fn vlmeta_exists(&self, name: &str) -> i32 {
        let name = c_name(name);
        // SAFETY: a terminated name.
        unsafe { (self.functions.blosc2_vlmeta_exists)(self.raw, name.as_ptr()) }
    }

    pub fn vlmeta_add(&self, name: &str, bytes: &[u8]) -> i32 {
        self.vlmeta_add_with(name, bytes, None)
    }

    pub fn vlmeta_add_with(&self, name: &str, bytes: &[u8], params: Option<&Params>) -> i32 {
        let name = c_name(name);
        let mut cparams = params.map(Params::cparams);
        let cparams = cparams.as_mut().map_or(ptr::null_mut(), ptr::from_mut);
        // SAFETY: as in `meta_add`; the parameters are NULL or valid.
        unsafe {
            (self.functions.blosc2_vlmeta_add)(
                self.raw,
                name.as_ptr(),
                content_ptr(bytes),
                len32(bytes),
                cparams,
            )
        }
    }

    pub fn vlmeta_update(&self, name: &str, bytes: &[u8]) -> i32 {
        let name = c_name(name);
        // SAFETY: as in `meta_add`.
        unsafe {
            (self.functions.blosc2_vlmeta_update)(
                self.raw,
                name.as_ptr(),
                content_ptr(bytes),
                len32(bytes),
                ptr::null_mut(),
            )
        }
    }

    pub fn vlmeta_get(&self, name: &str) -> BytesResult {
        self.vlmeta_get_c(&c_name(name))
    }

    /// As [`SuperChunk::vlmeta_get`], for names of arbitrary bytes.
    pub fn vlmeta_get_c(&self, name: &CStr) -> BytesResult {
        let (mut found, mut len) = (ptr::null_mut(), 0);
        // SAFETY: valid out-pointers; the caller frees the result.
        unsafe {
            let rc = (self.functions.blosc2_vlmeta_get)(self.raw, name.as_ptr(), &mut found, &mut len);
            if rc < 0 {
                return Err(rc);
            }
            let bytes = bytes_at(found, len);
            libc::free(found.cast());
            Ok(bytes)
        }
    }

    pub fn vlmeta_delete(&self, name: &str) -> i32 {
        let name = c_name(name);
        // SAFETY: a terminated name.
        unsafe { (self.functions.blosc2_vlmeta_delete)(self.raw, name.as_ptr()) }
    }

    pub fn vlmeta_names(&self) -> Vec<CString> {
        let mut names = vec![ptr::null_mut(); 8192];
        // SAFETY: an array for the maximum number of names; the names stay valid until the next change.
        unsafe {
            let count = (self.functions.blosc2_vlmeta_get_names)(self.raw, names.as_mut_ptr());
            let count = usize::try_from(count).expect("a number of names");
            names[..count].iter().map(|&name| CStr::from_ptr(name).to_owned()).collect()
        }
    }
}

/// Copies `len` bytes; returns an empty vector for NULL.
fn bytes_at(at: *const u8, len: i32) -> Vec<u8> {
    let len = usize::try_from(len).expect("a length");
    if len == 0 {
        return Vec::new();
    }
    assert!(!at.is_null(), "{len} bytes at NULL");
    // SAFETY: the library states that `len` bytes are readable there.
    unsafe { std::slice::from_raw_parts(at, len).to_vec() }
}

/// Returns name and content of a metalayer of the public struct.
///
/// # Safety
///
/// The pointer must refer to a metalayer of a live super-chunk.
unsafe fn named_content(metalayer: *const blosc2_metalayer) -> (Vec<u8>, Vec<u8>) {
    // SAFETY: guaranteed by the caller; the name is terminated.
    unsafe {
        let metalayer = *metalayer;
        let name = CStr::from_ptr(metalayer.name).to_bytes().to_vec();
        (name, bytes_at(metalayer.content, metalayer.content_len))
    }
}
