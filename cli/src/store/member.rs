//! The members of a store.

use crate::error::Failure;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The store of the small members in a directory or a zip file.
const EMBEDDED: &str = "embed.b2e";

/// A frame in a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    /// The name, for example `/group/array`.
    pub key: String,
    pub place: Place,
}

/// The place of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    File(PathBuf),
    /// A range of a file, in bytes.
    Inside(PathBuf, Range<u64>),
    /// A range of the content of the frame that begins at an offset of a file, in bytes.
    Embedded(PathBuf, u64, Range<u64>),
}

impl Place {
    /// Returns the file, and the offset of the frame in it; `None` for an embedded frame, which has no place in a file.
    pub(crate) fn offset(&self) -> Option<(&Path, u64)> {
        match self {
            Place::File(path) => Some((path, 0)),
            Place::Inside(path, range) => Some((path, range.start)),
            Place::Embedded(..) => None,
        }
    }
}

/// Returns the name of the member in an entry of a directory or a zip file; `None` for the store of small ones.
///
/// # Errors
/// Another entry.
pub(super) fn key_of(name: &str, store: &Path) -> Result<Option<String>, Failure> {
    if name == EMBEDDED {
        return Ok(None);
    }
    let key = name.strip_suffix(".b2nd").or_else(|| name.strip_suffix(".b2f"));
    let key = key.or_else(|| name.strip_suffix(".b2frame"));
    match key {
        Some(key) => Ok(Some(format!("/{key}"))),
        None => Err(Failure::file(
            store,
            format!("entry {name:?} is not supported, expected .b2nd, .b2f or {EMBEDDED}"),
        )),
    }
}
