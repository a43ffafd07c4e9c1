//! The chunk files of a directory: each chunk of a sparse frame is in a file of its own, whose name is a number.

use super::old_bytes::OldBytes;
use crate::chunk::format::{EXTENDED_HEADER_LENGTH, MIN_HEADER_LENGTH};
use crate::error::{Result, err};
use crate::fallible;
use crate::frame::format::chunk_info::stored_len;
use crate::io::{Backend, IoStream, OpenMode, WriteUnit, paths, replacement};
use crate::trace;
use std::ffi::{CStr, CString};
use std::io::Write;

/// The length, in bytes, of the name of a chunk file: eight digits and `.chunk`.
const CHUNK_FILE_NAME_LEN: usize = 14;

/// The first bytes of a chunk that readers reject: `nbytes`, `blocksize` and `cbytes` are negative. `tests/durability`
/// checks that both libraries do.
const INVALID_HEADER: [u8; MIN_HEADER_LENGTH] = [0xFF; MIN_HEADER_LENGTH];

pub(crate) struct ChunkFiles {
    /// The path of the directory, without a slash at its end.
    pub(in crate::frame) directory: CString,
    pub(super) backend: Backend,
}

impl ChunkFiles {
    /// Returns the path of a chunk file.
    ///
    /// # Errors
    /// `InvalidHeader` for a number above `u32::MAX`; `MemoryAlloc`.
    pub(super) fn path(&self, number: u64) -> Result<CString> {
        let Ok(number) = u32::try_from(number) else {
            return Err(err!(InvalidHeader, "no chunk file {number}: expected a number up to {}", u32::MAX));
        };
        let mut name = [0; CHUNK_FILE_NAME_LEN];
        // The name has that length.
        let _ = write!(&mut name[..], "{number:08X}.chunk");
        fallible::c_string(&[self.directory.to_bytes(), b"/", &name])
    }

    /// Opens a chunk file.
    ///
    /// # Errors
    /// `FileOpen`; `InvalidHeader` for a number above `u32::MAX`.
    pub(crate) fn open(&self, number: u64) -> Result<IoStream> {
        self.backend.open(&self.path(number)?, OpenMode::Read)
    }

    /// Creates a chunk file, or overwrites the existing one.
    pub(crate) fn write(&self, number: u64, bytes: &[u8]) -> Result<()> {
        let stream = self.backend.open(&self.path(number)?, OpenMode::Create)?;
        stream.write_at(0, bytes, WriteUnit::Bytes)
    }

    /// Writes a native chunk file with a number that no index refers to. Returns the open file. After an error the file
    /// does not exist.
    pub(in crate::frame) fn create(&self, number: u64, parts: &[&[u8]]) -> Result<IoStream> {
        let path = self.path(number)?;
        let stream = self.backend.open(&path, OpenMode::Create)?;
        stream.write_vectored_at(0, parts).inspect_err(|_| {
            if let Err(error) = remove_file(&path) {
                trace::warning(|| format!("an incomplete chunk file stays: {error}"));
            }
        })?;
        Ok(stream)
    }

    /// Cuts off a native chunk file behind its chunk.
    pub(super) fn cut(&self, number: u64) -> Result<()> {
        let stream = self.backend.open(&self.path(number)?, OpenMode::Update)?;
        let mut head = [0; EXTENDED_HEADER_LENGTH];
        let got = stream.read_at(0, &mut head)?;
        stored_len(&head[..got]).map_or(Ok(()), |len| stream.cut(len))
    }

    /// Removes a chunk file to which no index refers. A file that cannot be removed stays as an orphan, without an
    /// error.
    pub(super) fn remove(&self, number: u64) {
        if let Err(error) = self.path(number).and_then(|path| self.backend.remove(&path)) {
            trace::warning(|| format!("chunk file {number} could not be removed: {error}"));
        }
    }

    /// Waits until all native files of the directory except the one at `index_file` are on disk.
    pub(super) fn sync(&self, index_file: &CStr) -> Result<()> {
        let directory = &*paths::as_path(&self.directory);
        let failed = |error| err!(FileOpen, "cannot list {}: {error}", directory.display());
        for entry in std::fs::read_dir(directory).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path != *paths::as_path(index_file) {
                replacement::sync_file(&path)?;
            }
        }
        Ok(())
    }
}

/// Restores the chunk in a file. A write that fails concerns bytes that could not be overwritten either: the others are
/// restored.
pub(super) fn restore_chunk(stream: &IoStream, old: &OldBytes) -> Result<()> {
    let header_len = old.len().min(INVALID_HEADER.len());
    let written = old.restore_part(stream, header_len..old.len());
    let written = old.restore_part(stream, 0..header_len).and(written);
    written.and(stream.truncate(old.len() as u64))
}

/// Removes a native file.
pub(super) fn remove_file(path: &CStr) -> Result<()> {
    std::fs::remove_file(paths::as_path(path)).map_err(|error| err!(FileRemove, "{path:?}: {error}"))
}

/// Overwrites the chunk in a file. Its header is [`INVALID_HEADER`] until the other bytes are written: if the process
/// is killed, readers of the file find an invalid chunk, and never the header of one chunk before the content of
/// another.
pub(super) fn overwrite_chunk(stream: &IoStream, bytes: &[u8]) -> Result<()> {
    let (header, content) = bytes.split_at(bytes.len().min(INVALID_HEADER.len()));
    stream.write_at(0, &INVALID_HEADER, WriteUnit::Bytes)?;
    stream.write_at(INVALID_HEADER.len() as u64, content, WriteUnit::Bytes)?;
    stream.write_at(0, header, WriteUnit::Bytes)
}
