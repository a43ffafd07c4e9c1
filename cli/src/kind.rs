//! The content of a path, from its first bytes.

use crate::error::{Failure, WithPath};
use crate::remote;
use crate::source::{self, Bytes, INDEX_FILE};
use crate::store::{self, Place};
use std::fs;
use std::io::{self, Read};
use std::path::Path;

/// Length of the shortest header of a chunk in bytes.
const CHUNK_HEADER_LEN: usize = 16;
/// The bytes that the header of a frame has behind the two bytes that introduce it.
const FRAME_MAGIC: &[u8; 8] = b"b2frame\0";
/// The last version of the format of chunks that has been defined; the first one is 1.
const LAST_CHUNK_VERSION: u8 = 6;

/// The content of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A super-chunk or an array in a file.
    Frame,
    /// A super-chunk or an array in a directory.
    FrameDirectory,
    /// A single chunk.
    Chunk,
    /// Another directory.
    Directory,
    /// Another file.
    Other,
}

impl Kind {
    /// Returns what `path` holds. Of a file, up to 16 bytes are read.
    pub(crate) fn of(path: &Path) -> Result<Kind, Failure> {
        match store::find(path)? {
            Some(Place::File(member)) => return Kind::of(&member),
            Some(_) => return Ok(Kind::Frame),
            None => {}
        }
        if remote::is_url(path) {
            return Kind::of_url(path);
        }
        let metadata = fs::metadata(path).with_path(path)?;
        if metadata.is_dir() {
            let has_index = path.join(INDEX_FILE).is_file();
            return Ok(if has_index { Kind::FrameDirectory } else { Kind::Directory });
        }
        if !metadata.is_file() {
            return Err(Failure::file(path, "expected a file or a directory"));
        }
        Bytes::open(path).and_then(Kind::of_bytes).with_path(path)
    }

    /// Returns what a URL has: a file, or the directory of a sparse frame if it ends with a slash or has no file.
    fn of_url(url: &Path) -> Result<Kind, Failure> {
        let is_directory = || Bytes::open(&url.join(INDEX_FILE)).map(|_| Kind::FrameDirectory);
        if url.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return is_directory().with_path(url);
        }
        match Bytes::open(url) {
            // Of both errors, that of the file is returned.
            Err(error) if error.kind() == io::ErrorKind::NotFound => is_directory().map_err(|_| error),
            opened => opened.and_then(Kind::of_bytes),
        }
        .with_path(url)
    }

    /// Returns what a file has.
    fn of_bytes(file: Bytes) -> io::Result<Kind> {
        let len = file.len()?;
        let mut head = Vec::with_capacity(CHUNK_HEADER_LEN);
        file.take(CHUNK_HEADER_LEN as u64).read_to_end(&mut head)?;
        if head.get(2..10) == Some(FRAME_MAGIC) {
            return Ok(Kind::Frame);
        }
        Ok(if is_chunk(&head, len) { Kind::Chunk } else { Kind::Other })
    }
}

impl Kind {
    /// Returns why something is no frame; `None` for a frame.
    pub(crate) fn explain(self) -> Option<&'static str> {
        match self {
            Kind::Frame | Kind::FrameDirectory => None,
            Kind::Chunk => Some("a single chunk, expected a frame"),
            Kind::Directory => Some("a directory without chunks.b2frame, expected a sparse frame"),
            Kind::Other => Some("no frame and no chunk, expected a Blosc2 file"),
        }
    }
}

/// Returns the length in bytes of a file, or of all files in the directory of a sparse frame.
pub(crate) fn stored_len(path: &Path) -> io::Result<u64> {
    match store::find(path) {
        Ok(Some(Place::File(member))) => return stored_len(&member),
        Ok(Some(Place::Inside(_, range) | Place::Embedded(_, _, range))) => {
            return Ok(range.end - range.start);
        }
        // An error of a store is that of the path.
        Ok(None) | Err(_) => {}
    }
    if remote::is_url(path) {
        return match Bytes::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let info = source::open_super_chunk(path, 0, 1)?.info();
                Ok(info.frame_len.saturating_add(info.cbytes))
            }
            opened => opened?.len(),
        };
    }
    let metadata = fs::metadata(path)?;
    if !metadata.is_dir() {
        return Ok(metadata.len());
    }
    fs::read_dir(path)?.map(|entry| Ok(entry?.metadata()?.len())).sum()
}

/// Returns whether a file of `len` bytes that starts with `head` is a chunk: the header has a known version, and states
/// the length of the file.
fn is_chunk(head: &[u8], len: u64) -> bool {
    let Some(cbytes) = head.get(12..CHUNK_HEADER_LEN) else { return false };
    let stated = cbytes.iter().rev().fold(0u64, |value, &byte| value << 8 | u64::from(byte));
    (1..=LAST_CHUNK_VERSION).contains(&head[0]) && stated == len
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_states_its_version_and_the_length_of_the_file() {
        let chunk = blosc2::compress(&[7; 1000], &blosc2::Params::new()).unwrap();
        let (bytes, len) = (chunk.as_bytes(), chunk.as_bytes().len() as u64);
        assert!(is_chunk(bytes, len));
        assert!(!is_chunk(bytes, len + 1));
        assert!(!is_chunk(&bytes[..15], 15));
        let mut other = bytes.to_vec();
        other[0] = 0;
        assert!(!is_chunk(&other, len));
    }
}
