//! Tests of the back-ends through [`Backend`], as frames use them, of the cached handle, and of the lock.

mod environment;
mod lock;
mod mmap;
mod native;
mod new_files;
mod reader;
mod replacement;
mod user;

use super::*;
use crate::abi::blosc2_io;
use crate::os;
use std::ffi::{CString, c_void};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A new directory; removed with its contents on drop.
pub(crate) struct TempDir(PathBuf);

impl TempDir {
    pub(crate) fn new() -> TempDir {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("blosc2-io-{}-{}", os::process_id(), COUNT.fetch_add(1, Ordering::Relaxed));
        // WASI has no directory for temporary files.
        let parent = if cfg!(target_os = "wasi") { PathBuf::new() } else { std::env::temp_dir() };
        let path = parent.join(name);
        std::fs::create_dir(&path).unwrap();
        TempDir(path)
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn c_path(&self, name: &str) -> CString {
        CString::new(self.join(name).as_os_str().as_encoded_bytes()).unwrap()
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A cached handle of the native file at a path.
struct PathReader {
    reader: CachedReader,
    path: CString,
}

impl PathReader {
    fn new(path: CString) -> PathReader {
        PathReader { reader: CachedReader::new(Backend::native()), path }
    }

    fn uncached(path: CString) -> PathReader {
        PathReader { reader: CachedReader::uncached(Backend::native()), path }
    }

    fn with_stream<R>(&self, read: impl FnOnce(&IoStream) -> crate::Result<R>) -> crate::Result<R> {
        read(&*self.reader.open(&self.path)?)
    }
}

impl std::ops::Deref for PathReader {
    type Target = CachedReader;

    fn deref(&self) -> &CachedReader {
        &self.reader
    }
}

/// Returns the back-end with that id.
///
/// # Safety
/// As for [`Backend::resolve`].
unsafe fn resolve(id: u8, params: *mut c_void) -> crate::Result<Backend> {
    // SAFETY: by the contract, which is that of `Backend::resolve`.
    unsafe { Backend::resolve(&blosc2_io { id, name: std::ptr::null(), params }) }
}

#[track_caller]
fn error_code<T>(result: crate::Result<T>) -> i32 {
    match result {
        Ok(_) => 0,
        Err(error) => error.code(),
    }
}
