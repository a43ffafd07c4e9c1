//! What is read: files and directories on disk, and URLs.

use crate::remote;
use blosc2::{AnyArray, OpenOptions, SuperChunk};
use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

/// The file with the header and the index, in the directory of a sparse frame.
pub(crate) const INDEX_FILE: &str = "chunks.b2frame";

/// Returns whether there is something at a path; at a URL, a file or the directory of a super-chunk.
pub(crate) fn exists(path: &Path) -> io::Result<bool> {
    if !remote::is_url(path) {
        return Ok(path.symlink_metadata().is_ok());
    }
    let has_file = |path: &Path| match Bytes::open(path) {
        Ok(_) => Ok(true),
        // S3 denies access to missing files, unless they may be listed.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) => {
            Ok(false)
        }
        Err(error) => Err(error),
    };
    Ok(has_file(path)? || has_file(&path.join(INDEX_FILE))?)
}

/// Opens the super-chunk at an offset of a file, in bytes, or in a directory.
pub(crate) fn open_super_chunk(path: &Path, offset: u64, threads: usize) -> blosc2::Result<SuperChunk> {
    match remote::is_url(path) {
        true => remote::open_super_chunk(path, offset, threads),
        false => OpenOptions::new().offset(offset).threads(threads).open(path),
    }
}

/// Opens the array at an offset of a file, in bytes, or in a directory.
pub(crate) fn open_array(path: &Path, offset: u64, threads: usize) -> blosc2::Result<AnyArray> {
    match remote::is_url(path) {
        true => remote::open_array(path, offset, threads),
        false => OpenOptions::new().offset(offset).threads(threads).open_any_array(path),
    }
}

/// Returns the range, in bytes, of data behind the frame in its file.
pub(crate) fn other_data_behind(path: &Path) -> blosc2::Result<Option<Range<u64>>> {
    match remote::is_url(path) {
        true => remote::other_data_behind(path),
        false => blosc2::other_data_behind(path),
    }
}

/// The bytes of a file.
pub(crate) enum Bytes {
    Disk(fs::File),
    Remote(remote::File),
}

impl Bytes {
    /// Opens the file at a path or a URL.
    pub(crate) fn open(path: &Path) -> io::Result<Bytes> {
        match remote::is_url(path) {
            true => remote::File::open(path).map(Bytes::Remote),
            false => fs::File::open(path).map(Bytes::Disk),
        }
    }

    /// Returns the length in bytes.
    pub(crate) fn len(&self) -> io::Result<u64> {
        match self {
            Bytes::Disk(file) => Ok(file.metadata()?.len()),
            Bytes::Remote(file) => Ok(file.len()),
        }
    }

    /// Returns all bytes of the file at a path or a URL.
    pub(crate) fn read_all(path: &Path) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        Bytes::open(path)?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

impl Read for Bytes {
    fn read(&mut self, dest: &mut [u8]) -> io::Result<usize> {
        match self {
            Bytes::Disk(file) => file.read(dest),
            Bytes::Remote(file) => file.read(dest),
        }
    }
}

impl Seek for Bytes {
    fn seek(&mut self, place: SeekFrom) -> io::Result<u64> {
        match self {
            Bytes::Disk(file) => file.seek(place),
            Bytes::Remote(file) => file.seek(place),
        }
    }
}
