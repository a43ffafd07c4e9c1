//! Bytes that are kept for reverting a change: in memory, or in a temporary file without a name.

use crate::buffers::{Buffer, take_buffer};
use crate::err;
use crate::error::Result;
use crate::fallible;
use crate::io::{IoStream, WriteUnit, replacement};
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

/// Maximum number of bytes that are moved or restored in one read and one write.
pub(in crate::frame) const MAX_SEGMENT_LEN: u64 = 1 << 20;

/// The length, in bytes, of the buffer of [`with_copy_buffer`] when memory has run out.
const STACK_SEGMENT_LEN: usize = 4 << 10;

/// Lends a buffer for copying `len` bytes piece by piece. Without memory, it is on the stack: bytes that a failed change
/// has overwritten are restored all the same.
pub(in crate::frame) fn with_copy_buffer<R>(len: u64, then: impl FnOnce(&mut [u8]) -> R) -> R {
    match fallible::filled(0, len.min(MAX_SEGMENT_LEN) as usize) {
        Ok(mut buffer) if !buffer.is_empty() => then(&mut buffer),
        _ => then(&mut [0; STACK_SEGMENT_LEN]),
    }
}

/// Bytes that were overwritten.
pub(in crate::frame) enum SavedBytes {
    /// The bytes are the first `len` of a buffer.
    Memory { buffer: Buffer, len: usize },
    /// The bytes are in a file: `len` bytes at offset `at`.
    File { file: Arc<File>, at: u64, len: usize },
}

impl SavedBytes {
    /// Reads `len` bytes at `position`, or fewer if the file ends earlier.
    ///
    /// # Errors
    /// `FileRead`, `MemoryAlloc`.
    pub(in crate::frame) fn read_from(stream: &IoStream, position: u64, len: u64) -> Result<SavedBytes> {
        let len = usize::try_from(len).map_err(|_| err!(MemoryAlloc, "{len} saved bytes"))?;
        let mut buffer = take_buffer(len)?;
        let len = stream.read_at(position, &mut buffer[..len])?;
        Ok(SavedBytes::Memory { buffer, len })
    }

    /// Returns the number of bytes.
    pub(in crate::frame) fn len(&self) -> usize {
        match self {
            SavedBytes::Memory { len, .. } | SavedBytes::File { len, .. } => *len,
        }
    }

    /// Returns the number of bytes that are in memory.
    pub(in crate::frame) fn len_in_memory(&self) -> usize {
        match self {
            SavedBytes::Memory { len, .. } => *len,
            SavedBytes::File { .. } => 0,
        }
    }

    /// Writes `part` of the bytes to a file, where the first of all bytes is at `position`.
    ///
    /// # Errors
    /// `FileRead`, `FileWrite`.
    pub(in crate::frame) fn write_to(
        &self,
        stream: &IoStream,
        position: u64,
        part: Range<usize>,
    ) -> Result<()> {
        let (start, len) = (part.start as u64, part.len() as u64);
        let position = position + start;
        let (file, at) = match self {
            SavedBytes::Memory { buffer, .. } => {
                return stream.write_at(position, &buffer[part], WriteUnit::Bytes);
            }
            SavedBytes::File { file, at, .. } => (file, *at + start),
        };
        with_copy_buffer(len, |buffer| {
            let mut done = 0;
            while done < len {
                let piece_len = (len - done).min(buffer.len() as u64);
                let piece = &mut buffer[..piece_len as usize];
                let failed = |error| err!(FileRead, "cannot read {len} saved bytes: {error}");
                file.read_exact_at(piece, at + done).map_err(failed)?;
                stream.write_at(position + done, piece, WriteUnit::Bytes)?;
                done += piece_len;
            }
            Ok(())
        })
    }
}

/// A temporary file for [`SavedBytes`]. It has no name, so that the system removes it when it is closed.
pub(in crate::frame) struct SpillFile {
    file: Arc<File>,
    len: u64,
}

impl SpillFile {
    /// Creates a file in the directory of the file `beside`.
    ///
    /// # Errors
    /// `FileOpen`.
    pub(in crate::frame) fn create(beside: &Path) -> Result<SpillFile> {
        Ok(SpillFile { file: Arc::new(replacement::create_unnamed_file(beside)?), len: 0 })
    }

    /// Moves bytes from memory to the file.
    ///
    /// # Errors
    /// `FileWrite`; the bytes stay in memory then.
    pub(in crate::frame) fn spill(&mut self, saved: &mut SavedBytes) -> Result<()> {
        let SavedBytes::Memory { buffer, len } = &*saved else { return Ok(()) };
        let bytes = &buffer[..*len];
        let failed = |error| err!(FileWrite, "cannot save {} bytes: {error}", bytes.len());
        self.file.write_all_at(bytes, self.len).map_err(failed)?;
        let (at, len) = (self.len, bytes.len());
        self.len += len as u64;
        *saved = SavedBytes::File { file: self.file.clone(), at, len };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::{Backend, OpenMode, paths};
    use std::ffi::CString;

    #[test]
    fn spilled_bytes_are_read_back_and_the_file_has_no_name() {
        let directory = std::env::temp_dir().join(format!("b2spill-{}", std::process::id()));
        std::fs::create_dir(&directory).expect("a new directory");
        let mut spill = SpillFile::create(&directory.join("frame")).expect("a file");
        let pieces = [vec![1_u8; 7], Vec::new(), vec![2; 100_000]];
        let in_memory = |piece: &Vec<u8>| {
            let mut buffer = take_buffer(piece.len()).expect("a buffer");
            buffer[..piece.len()].copy_from_slice(piece);
            SavedBytes::Memory { buffer, len: piece.len() }
        };
        let mut saved: Vec<_> = pieces.iter().map(in_memory).collect();
        for (saved, piece) in saved.iter_mut().zip(&pieces) {
            assert_eq!(saved.len_in_memory(), piece.len());
            spill.spill(saved).expect("spilled");
            assert_eq!(saved.len_in_memory(), 0);
        }
        drop(spill);
        let path = CString::new(directory.join("read back").into_os_string().into_encoded_bytes()).unwrap();
        let stream = Backend::native().open(&path, OpenMode::Create).expect("a file");
        for (saved, piece) in saved.iter().zip(&pieces) {
            for part in [piece.len() / 3..piece.len(), 0..piece.len() / 3] {
                saved.write_to(&stream, 50, part).expect("written");
            }
            let written = std::fs::read(paths::as_path(&path)).expect("the bytes");
            assert_eq!(written.get(50..50 + piece.len()).unwrap_or_default(), piece);
        }
        std::fs::remove_file(paths::as_path(&path)).expect("a file");
        std::fs::remove_dir(&directory).expect("an empty directory");
    }
}
