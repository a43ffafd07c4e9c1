//! Temporary directories for tests.

use std::ffi::{CString, OsStr};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A new directory; it is removed with its contents when dropped.
pub struct TempDir(PathBuf);

impl TempDir {
    pub fn new() -> TempDir {
        TempDir::below(&std::env::temp_dir())
    }

    /// Creates the directory in `place`.
    pub fn below(place: &Path) -> TempDir {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("blosc2-test-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = place.join(name);
        // An earlier process with this id may have been killed.
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a directory for the test");
        TempDir(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Returns the path of an entry of the directory as a C string.
    pub fn c_path(&self, name: &str) -> CString {
        c_path(&self.join(name))
    }

    /// Returns names and contents of all entries, sorted; the names of directories end with a slash.
    pub fn listing(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(&self.0)
            .expect("a readable directory")
            .map(|entry| {
                let path = entry.expect("an entry").path();
                let name = path.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
                match std::fs::read(&path) {
                    Ok(bytes) => format!("{name}: {:?}", String::from_utf8_lossy(&bytes)),
                    Err(_) if path.is_dir() => format!("{name}/"),
                    Err(error) => format!("{name}: {error}"),
                }
            })
            .collect();
        names.sort();
        names
    }
}

pub fn c_path(path: &Path) -> CString {
    CString::new(path.as_os_str().as_encoded_bytes()).expect("no NUL in a path")
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs `work` with `RLIMIT_FSIZE` set to `limit`: writes behind byte `limit` of a file fail.
#[cfg(unix)]
pub fn with_file_size_limit<R>(limit: u64, work: impl FnOnce() -> R) -> R {
    let mut before = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: valid structs; the signal is ignored.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        assert_eq!(libc::getrlimit(libc::RLIMIT_FSIZE, &mut before), 0);
        let limited = libc::rlimit { rlim_cur: limit as libc::rlim_t, ..before };
        assert_eq!(libc::setrlimit(libc::RLIMIT_FSIZE, &limited), 0);
    }
    let result = work();
    // SAFETY: restores the previous limit.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &before) }, 0);
    result
}
