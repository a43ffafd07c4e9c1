//! Bytes of a file before a write: kept in memory, or in a temporary file without a name, until the write is certain to
//! stay, or written back.

use crate::buffers::{Buffer, take_buffer};
use crate::error::{Result, err};
use crate::fallible;
use crate::io::{IoStream, WriteUnit, replacement};
use crate::os;
use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Maximum number of bytes that are moved or restored in one read and one write.
pub(super) const MAX_SEGMENT_LEN: u64 = 1 << 20;

/// The length, in bytes, of the buffer of [`with_copy_buffer`] when memory has run out.
const STACK_SEGMENT_LEN: usize = 4 << 10;

/// Lends a buffer for copying `len` bytes piece by piece. Without memory, it is on the stack: bytes that a failed change
/// has overwritten are restored all the same.
pub(super) fn with_copy_buffer<R>(len: u64, then: impl FnOnce(&mut [u8]) -> R) -> R {
    match fallible::filled(0, len.min(MAX_SEGMENT_LEN) as usize) {
        Ok(mut buffer) if !buffer.is_empty() => then(&mut buffer),
        _ => then(&mut [0; STACK_SEGMENT_LEN]),
    }
}

/// A range of a file, and its bytes before a write.
pub(in crate::frame) struct OldBytes {
    /// Offset of the range in the file, in bytes.
    position: u64,
    len: usize,
    storage: OldBytesStorage,
}

/// The memory that holds [`OldBytes`].
enum OldBytesStorage {
    /// The start of a buffer.
    Memory(Buffer),
    /// A [`SpillFile`], from this offset on.
    File(Arc<File>, u64),
}

impl OldBytes {
    /// Reads `len` bytes at `position`, or fewer if the file ends earlier.
    pub(in crate::frame) fn read(stream: &IoStream, position: u64, len: u64) -> Result<OldBytes> {
        let len = usize::try_from(len).map_err(|_| err!(MemoryAlloc, "{len} old bytes"))?;
        let mut buffer = take_buffer(len)?;
        let len = stream.read_at(position, &mut buffer[..len])?;
        Ok(OldBytes { position, len, storage: OldBytesStorage::Memory(buffer) })
    }

    /// Copies the bytes of a file at `position`, which are in memory already.
    pub(in crate::frame) fn copy_of(position: u64, bytes: &[u8]) -> Result<OldBytes> {
        let mut buffer = take_buffer(bytes.len())?;
        buffer[..bytes.len()].copy_from_slice(bytes);
        Ok(OldBytes { position, len: bytes.len(), storage: OldBytesStorage::Memory(buffer) })
    }

    pub(in crate::frame) fn len(&self) -> usize {
        self.len
    }

    /// Returns the bytes; `None` if they are in a file.
    pub(in crate::frame) fn in_memory(&self) -> Option<&[u8]> {
        match &self.storage {
            OldBytesStorage::Memory(buffer) => Some(&buffer[..self.len]),
            OldBytesStorage::File(..) => None,
        }
    }

    /// Writes the bytes back to the file from which they were read.
    pub(in crate::frame) fn restore(&self, stream: &IoStream) -> Result<()> {
        self.restore_part(stream, 0..self.len)
    }

    /// As [`restore`](Self::restore), for `part` of the bytes.
    pub(in crate::frame) fn restore_part(&self, stream: &IoStream, part: Range<usize>) -> Result<()> {
        let (start, len) = (part.start as u64, part.len() as u64);
        let position = self.position + start;
        let (file, at) = match &self.storage {
            OldBytesStorage::Memory(buffer) => {
                return stream.write_at(position, &buffer[part], WriteUnit::Bytes);
            }
            OldBytesStorage::File(file, at) => (file, at + start),
        };
        with_copy_buffer(len, |buffer| {
            let mut done = 0;
            while done < len {
                let piece_len = (len - done).min(buffer.len() as u64);
                let piece = &mut buffer[..piece_len as usize];
                let failed = |error| err!(FileRead, "cannot read {len} old bytes: {error}");
                os::read_exact_at(file, piece, at + done).map_err(failed)?;
                stream.write_at(position + done, piece, WriteUnit::Bytes)?;
                done += piece_len;
            }
            Ok(())
        })
    }
}

/// A temporary file for [`OldBytes`]. It has no name, so that the system removes it when it is closed.
pub(super) struct SpillFile {
    file: Arc<File>,
    len: u64,
}

impl SpillFile {
    /// Creates a file in the directory of the file `beside`.
    pub(super) fn create(beside: &Path) -> Result<SpillFile> {
        Ok(SpillFile { file: Arc::new(replacement::create_unnamed_file(beside)?), len: 0 })
    }

    /// Moves bytes from memory to the file. Returns their number.
    ///
    /// # Errors
    /// `FileWrite`; the bytes stay in memory then.
    pub(super) fn spill(&mut self, old: &mut OldBytes) -> Result<usize> {
        let Some(bytes) = old.in_memory() else { return Ok(0) };
        let failed = |error| err!(FileWrite, "cannot save {} bytes: {error}", bytes.len());
        os::write_all_at(&self.file, bytes, self.len).map_err(failed)?;
        old.storage = OldBytesStorage::File(self.file.clone(), self.len);
        self.len += old.len as u64;
        Ok(old.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::tests::TempDir;
    use crate::io::{Backend, OpenMode, paths};

    #[test]
    fn spilled_bytes_are_read_back_and_the_file_has_no_name() {
        let directory = TempDir::new();
        let mut spill = SpillFile::create(&directory.join("frame")).expect("a file");
        let pieces = [vec![1_u8; 7], Vec::new(), vec![2; 100_000]];
        let in_memory = |piece: &Vec<u8>| OldBytes::copy_of(50, piece).expect("a buffer");
        let mut saved: Vec<_> = pieces.iter().map(in_memory).collect();
        for (old, piece) in saved.iter_mut().zip(&pieces) {
            assert_eq!(old.in_memory(), Some(&piece[..]));
            assert_eq!(spill.spill(old).expect("spilled"), piece.len());
            assert_eq!((old.in_memory(), old.len()), (None, piece.len()));
        }
        drop(spill);
        assert_eq!(std::fs::read_dir(directory.path()).expect("a directory").count(), 0);
        let path = directory.c_path("read back");
        let stream = Backend::native().open(&path, OpenMode::Create).expect("a file");
        for (old, piece) in saved.iter().zip(&pieces) {
            for part in [piece.len() / 3..piece.len(), 0..piece.len() / 3] {
                old.restore_part(&stream, part).expect("written");
            }
            let written = std::fs::read(paths::as_path(&path)).expect("the bytes");
            assert_eq!(written.get(50..50 + piece.len()).unwrap_or_default(), piece);
        }
    }
}
