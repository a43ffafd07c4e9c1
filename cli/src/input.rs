//! Files that are read.

use crate::error::{Failure, WithPath};
use crate::kind::Kind;
use crate::remote;
use crate::source;
use crate::store::{self, Place};
use blosc2::{AnyArray, OpenOptions, SuperChunk};
use std::path::{Path, PathBuf};

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
    /// Opens the file or directory at `path`, a path or a URL, for reading.
    pub(crate) fn open(path: &Path, threads: usize) -> Result<Content, Failure> {
        Content::open_as(path, path, threads)
    }

    /// Opens the file or directory at `path` for reading; `name` is its name in errors.
    pub(crate) fn open_as(path: &Path, name: &Path, threads: usize) -> Result<Content, Failure> {
        let schunk = open_frame(path, name, threads)?;
        if schunk.is_array() {
            let (file, offset) = located(path)?;
            return source::open_array(&file, offset, threads).with_path(name).map(Content::Array);
        }
        Ok(Content::SuperChunk(schunk))
    }
}

/// Opens the super-chunk at `path`, whose values are in the file; `name` is its name in errors.
pub(crate) fn open_frame(path: &Path, name: &Path, threads: usize) -> Result<SuperChunk, Failure> {
    let (file, offset) = located(path)?;
    let opened = source::open_super_chunk(&file, offset, threads);
    let schunk = opened.map_err(|error| not_a_frame(&file, name, error))?;
    if is_computed(&schunk) {
        return Err(Failure::file(
            name,
            "is a lazy expression of python-blosc2, whose values are not in the file; its compute() writes them",
        ));
    }
    Ok(schunk)
}

/// Opens the super-chunk at `path`, also one whose values are computed, and the array in it.
pub(crate) fn open_parts(path: &Path) -> Result<(SuperChunk, Option<AnyArray>), Failure> {
    let (file, offset) = located(path)?;
    let opened = source::open_super_chunk(&file, offset, 1);
    let schunk = opened.map_err(|error| not_a_frame(&file, path, error))?;
    let open_array = || source::open_array(&file, offset, 1);
    let array = schunk.is_array().then(open_array).transpose().with_path(path)?;
    Ok((schunk, array))
}

/// Returns the file of a path, and the offset of a member of a store.
fn located(path: &Path) -> Result<(PathBuf, u64), Failure> {
    let place = store::find(path)?;
    let (file, offset) = place.as_ref().and_then(Place::offset).unwrap_or((path, 0));
    Ok((file.to_owned(), offset))
}

/// Opens the super-chunk at `path` with `options`, which are those for a change.
pub(crate) fn open_for_change(path: &Path, options: &OpenOptions) -> Result<SuperChunk, Failure> {
    if remote::is_url(path) {
        return Err(Failure::file(
            path,
            "is a URL, whose file is not changed in place: download it, change the copy, and upload that; the Rust crate \
             appends to directories (`remote::Client`)",
        ));
    }
    options.open(path).map_err(|error| not_a_frame(path, path, error))
}

/// Returns whether the values of a super-chunk are computed by python-blosc2, and not in the chunks.
pub(crate) fn is_computed(schunk: &SuperChunk) -> bool {
    let layers = schunk.metalayers();
    layers.fixed_names().iter().chain(&layers.variable_names()).any(|name| name == OBJECT_METALAYER)
}

/// Returns the failure of a path that could not be opened as a frame; `name` is its name in errors.
pub(crate) fn not_a_frame(path: &Path, name: &Path, error: blosc2::Error) -> Failure {
    if store::is_store(path) {
        return Failure::file(name, "is a store, expected a member, for example store.b2z/group/array");
    }
    if let (false, Err(missing)) = (remote::is_url(path), path.metadata()) {
        return match store::find(path) {
            Ok(Some(_)) => Failure::file(name, "is a member of a store, which is only read"),
            Ok(None) => Failure::file(name, missing),
            Err(failure) => failure,
        };
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
        _ => {
            let (file, offset) = located(path).ok()?;
            source::open_super_chunk(&file, offset, 1).ok().map(|schunk| schunk.info().has_checksums)
        }
    }
}

/// Returns whether the path is `-`: stdin or stdout.
pub(crate) fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}
