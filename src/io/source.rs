//! Files that Rust code provides, for reading only: those of object stores, for the crate `blosc2`.

use super::OpenMode;
use crate::err;
use crate::error::{Result, os_err};
use std::ffi::CStr;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// Provides files by name.
pub trait Source: Send + Sync {
    /// Opens a file. The library opens a file for each read: this must not take long.
    ///
    /// # Errors
    /// `NotFound` for a name without a file.
    fn open(&self, name: &str) -> io::Result<Arc<dyn SourceFile>>;

    /// Makes bytes of files available, which the library then reads while the result lives: at once, where reading them one by one
    /// takes longer. Ranges may overlap, and end behind the end of their file.
    ///
    /// # Errors
    /// Those of the source.
    fn fetch(&self, parts: Vec<FilePart>) -> io::Result<Box<dyn Send>>;
}

/// Bytes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePart {
    /// The name of the file.
    pub file: Arc<str>,
    /// The bytes.
    pub range: Range<u64>,
}

/// A file that does not change.
#[expect(clippy::len_without_is_empty, reason = "no caller needs it")]
pub trait SourceFile: Send + Sync {
    /// Returns the length in bytes.
    fn len(&self) -> u64;

    /// Fills `dest` with the bytes from `position` on, which are in the file.
    ///
    /// # Errors
    /// Those of the source.
    fn read_exact_at(&self, position: u64, dest: &mut [u8]) -> io::Result<()>;
}

pub(super) fn open(source: &dyn Source, path: &CStr, mode: OpenMode) -> Result<Arc<dyn SourceFile>> {
    if mode != OpenMode::Read {
        return Err(read_only());
    }
    let name = path.to_str().map_err(|_| err!(FileOpen, "the name {path:?} is not UTF-8"))?;
    source.open(name).map_err(|error| os_err!(error, FileOpen, "{error}"))
}

/// Reads the bytes from `position` on into `dest`, as many as the file has. Returns their number.
pub(super) fn read_at(file: &dyn SourceFile, position: u64, dest: &mut [u8]) -> Result<usize> {
    let there = file.len().saturating_sub(position);
    let dest_len = dest.len();
    let dest = &mut dest[..usize::try_from(there).unwrap_or(usize::MAX).min(dest_len)];
    if !dest.is_empty() {
        file.read_exact_at(position, dest).map_err(|error| os_err!(error, FileRead, "{error}"))?;
    }
    Ok(dest.len())
}

/// Returns the error for a change.
pub(super) fn read_only() -> crate::Error {
    err!(FileWrite, "the files of this source can only be read")
}
