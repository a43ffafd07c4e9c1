//! Files that are read.

use crate::error::{Failure, WithPath};
use blosc2::{AnyArray, OpenOptions, SuperChunk};
use std::path::Path;

/// What a Blosc2 file holds.
pub(crate) enum Content {
    /// An array.
    Array(AnyArray),
    /// A super-chunk without an array.
    SuperChunk(SuperChunk),
}

impl Content {
    /// Opens the file or directory at `path` for reading.
    pub(crate) fn open(path: &Path, threads: usize) -> Result<Content, Failure> {
        Content::open_as(path, path, threads)
    }

    /// Opens the file or directory at `path` for reading; `name` is its name in errors.
    pub(crate) fn open_as(path: &Path, name: &Path, threads: usize) -> Result<Content, Failure> {
        let options = OpenOptions::new().threads(threads);
        let schunk = options.open(path).with_path(name)?;
        if schunk.is_array() {
            return options.open_any_array(path).with_path(name).map(Content::Array);
        }
        Ok(Content::SuperChunk(schunk))
    }
}

/// Returns whether the path is `-`: stdin or stdout.
pub(crate) fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}
