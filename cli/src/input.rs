//! Files that are read.

use crate::error::{Failure, WithPath};
use crate::kind::Kind;
use blosc2::{AnyArray, OpenOptions, SuperChunk};
use std::path::Path;

/// The metalayer with an object of python-blosc2 whose values are computed from other files, for example a lazy
/// expression. The chunks of its file are zeros.
const OBJECT_METALAYER: &str = "b2o";

/// The content of a Blosc2 file.
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
        let schunk = open_frame(path, name, &options)?;
        if schunk.is_array() {
            return options.open_any_array(path).with_path(name).map(Content::Array);
        }
        Ok(Content::SuperChunk(schunk))
    }
}

/// Opens the super-chunk at `path`, whose values are in the file; `name` is its name in errors.
pub(crate) fn open_frame(path: &Path, name: &Path, options: &OpenOptions) -> Result<SuperChunk, Failure> {
    let schunk = options.open(path).map_err(|error| not_a_frame(path, name, error))?;
    if is_computed(&schunk) {
        return Err(Failure::file(
            name,
            "is a lazy expression of python-blosc2, whose values are not in the file; its compute() writes them",
        ));
    }
    Ok(schunk)
}

/// Returns whether the values of a super-chunk are computed by python-blosc2, and not in the chunks.
pub(crate) fn is_computed(schunk: &SuperChunk) -> bool {
    let layers = schunk.metalayers();
    layers.fixed_names().iter().chain(&layers.variable_names()).any(|name| name == OBJECT_METALAYER)
}

/// Returns the failure of a path that could not be opened as a frame; `name` is its name in errors.
pub(crate) fn not_a_frame(path: &Path, name: &Path, error: blosc2::Error) -> Failure {
    if let Err(missing) = path.metadata() {
        return Failure::file(name, missing);
    }
    match Kind::of(path).map(Kind::explain) {
        Ok(Some(explanation)) => Failure::file(name, explanation),
        _ => Failure::file(name, error),
    }
}

/// Returns whether a file has checksums; `None` if its header cannot be read. A single chunk has none.
pub(crate) fn checksums_of(path: &Path) -> Option<bool> {
    match Kind::of(path).ok()? {
        Kind::Chunk => Some(false),
        _ => SuperChunk::open(path).ok().map(|schunk| schunk.info().has_checksums),
    }
}

/// Returns whether the path is `-`: stdin or stdout.
pub(crate) fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}
